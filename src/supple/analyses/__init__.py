"""What we ask of a robot. Each file is a word on the command line and holds one public function of that name."""
