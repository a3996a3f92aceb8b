// Package junction joins two machines' connections to a gateway, so that a transfer's bytes pass through it as they are (issue 6; an extension between our
// own ends).
//
// What goes through the gateway as a message is decrypted and encrypted again there, and copied several times. A gibibyte is worth a connection of its own:
// each end makes a second one to the port at which it has met the gateway, and shows a ticket in place of a TLS greeting ([Enter]). When both have come,
// [Junction] copies between them, which Linux does without the bytes leaving the system. The ends speak TLS with each other over that (package direct, which
// says what is at stake): the gateway carries what it cannot read, and who overhears a ticket gains nothing by it but that these two do not meet.
//
// A ticket is random, good for one connection of one end, and only as long as the gateway says. Without one nobody is joined to anybody, and who shows none
// within [callLimit] is hung up on.
package junction
