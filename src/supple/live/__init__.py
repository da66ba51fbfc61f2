"""Robots that answer in a browser: their own C as WebAssembly, and what a page has to know to call it."""
