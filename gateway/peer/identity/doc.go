// Package identity proves who is at the other end of a connection: device keys, certificate pins of
// gateways, and the gateways with which this device is paired (docs/protocol.md#pairing). Gateways
// and devices use it. It is not called tls, because its users import crypto/tls too.
package identity
