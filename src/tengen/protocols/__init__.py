"""Talking to other programs: the Piskvork (Gomocup) engine protocol with the Yixin-Board extensions, both its sides."""
