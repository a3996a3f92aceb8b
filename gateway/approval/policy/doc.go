// Package policy judges a call by the person's rules: allow, ask or deny, with every part that was seen and why.
//
// A call gets the strictest verdict of its parts: deny beats ask beats allow, whatever the order or detail of the rules. What no rule names
// gets the default, which asks. Deny and ask rules match generously (whatever the folder of the program, whatever wraps it), allow rules
// match stingily (the bare name, decoded and static words, no option that turns the program into another one). Every error asks.
//
// A few things are asked about whatever the rules say: the floor. The package knows no store and no gateway; the same judgement is made
// by the gateway, by the node before it runs something, and by the command line.
package policy
