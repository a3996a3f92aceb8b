// Package detect finds model servers on this machine. It connects to loopback addresses only,
// identifies servers by their responses instead of their ports, and never makes one load or
// download a model.
//
// On a shared computer, any user may listen on a port. So a found server is only a proposal, to be
// used after the person has agreed.
package detect
