"""Independent judges of supple's answers: frames of corotational beams and a Ritz method, with nothing of supple in them."""
