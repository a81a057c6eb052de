"""What conversations come to: measures over episodes. Integers and fractions; floats only in intervals and tests."""
