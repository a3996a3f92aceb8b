package tools

// Shell is the program that runs commands on this machine.
func Shell() string { return shell() }
