package tools

// Shell returns the program that runs commands on this machine.
func Shell() string { return shell() }
