"""What an equation is: scalar expressions, named functions of them, and their exact derivatives."""
