// Package exposure lists who and what can reach the gateway, its machines and the agent, and
// records when each way in was last used. The entries come from the packages that own the things.
package exposure
