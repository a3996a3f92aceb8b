// Package detect looks for model servers on this machine. It asks loopback addresses only, tells servers apart by what they
// answer and not by their port, and never makes one load or download a model.
//
// A port says nothing about who listens: on a shared computer that may be anyone. So what is found is an offer, to be
// used only after the person has agreed.
package detect
