"""Engine protocols: both sides of the Piskvork (Gomocup) protocol, with the Yixin-Board extensions."""
