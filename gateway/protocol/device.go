package protocol

import "slices"

// DeviceID names a device that was paired: the first 16 hex digits of the SHA-256 of its public key.
type DeviceID string

// Roles of a device.
const (
	RoleNode   = "node"   // a machine that runs tools
	RoleClient = "client" // a window or command line
)

// How a device came in.
const (
	DoorLink = "link" // a link or QR code
	DoorCode = "code" // a spoken code
	DoorAsk  = "ask"  // it asked, and the person compared the words
	DoorSSH  = "ssh"  // a link that was carried over SSH, where the device's key was read too
)

// Device is a machine or client that was paired (extension).
type Device struct {
	ID     DeviceID `json:"deviceId"`
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	NodeID NodeID   `json:"nodeId,omitempty"` // of a node: the only id it may connect with
	// Scopes are what a client may do; a node has what a node needs.
	Scopes []Scope `json:"scopes,omitempty"`
	// Reach is what the person allowed a node to offer. A wider one asks again.
	Reach *Reach `json:"reach,omitempty"`
	// Words and Fingerprint are the device's key, short for people and in full (hex SHA-256).
	Words       []string `json:"words"`
	Fingerprint string   `json:"fingerprint"`
	OS          string   `json:"os,omitempty"`
	Hostname    string   `json:"hostname,omitempty"`
	Platform    string   `json:"platform,omitempty"`
	Version     string   `json:"version,omitempty"`
	Address     string   `json:"address,omitempty"` // where it came from last
	Door        string   `json:"door"`
	PairedBy    string   `json:"pairedBy"` // the principal that approved it
	PairedAt    int64    `json:"pairedAt"`
	LastSeenAt  int64    `json:"lastSeenAt,omitempty"`
	Online      bool     `json:"online"`
	// RotatedAt is when the person had its token replaced and it has not fetched the new one yet.
	RotatedAt int64 `json:"rotatedAt,omitempty"`
	// ExpiresAt ends the pairing; 0 is never.
	ExpiresAt int64  `json:"expiresAt,omitempty"`
	RevokedAt int64  `json:"revokedAt,omitempty"`
	RevokedBy string `json:"revokedBy,omitempty"`
}

// Reach is how far a node's tools reach. A node is held to what was allowed when it was paired.
type Reach struct {
	Tools   []string `json:"tools,omitempty"`        // bare names, sorted
	Caps    []string `json:"capabilities,omitempty"` // sorted
	Sandbox string   `json:"sandbox,omitempty"`      // read-only, workspace-write or full; empty: nothing confines commands
	Network string   `json:"network,omitempty"`      // blocked, ask or allowed
	Disk    bool     `json:"wholeDisk,omitempty"`    // the file tools use the whole disk
	Folders []Folder `json:"folders,omitempty"`      // the workspace first, then what was granted
}

// Folder is a folder that a node's tools may use.
type Folder struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Kinds of request.
const (
	RequestPair  = "pair"  // a device wants to be paired
	RequestWiden = "widen" // a paired node offers more than was allowed
)

// DeviceRequest waits for the person. Its id changes with anything it asks for: an answer names what was seen.
type DeviceRequest struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Device is who asks, as it describes itself, with the address the gateway sees.
	Device Device `json:"device"`
	// Words are shown on both ends of a pairing and must be the same.
	Words []string `json:"words,omitempty"`
	// Wider says in words what a node offers beyond what was allowed.
	Wider     []string `json:"wider,omitempty"`
	Invite    string   `json:"invite,omitempty"` // the invitation it took
	CreatedAt int64    `json:"createdAt"`
	ExpiresAt int64    `json:"expiresAt,omitempty"` // 0: it waits as long as the node does
}

// DeviceInviteParams makes an invitation (extension, device.invite). At most eight are open.
type DeviceInviteParams struct {
	// Role the taker gets: node (the default) or client.
	Role string `json:"role,omitempty"`
	// Scopes of a client; absent means everything the owner may.
	Scopes []Scope `json:"scopes,omitempty"`
	Name   string  `json:"name,omitempty"` // the device's name; its own when empty
	// Minutes until it is over: 1 to 60, 10 when absent.
	Minutes int `json:"minutes,omitempty"`
	// Device, when set, is the only fingerprint that may take it, and it is approved at once: the key was read over SSH.
	Device string `json:"device,omitempty"`
	// PairedFor is for how many days the pairing holds; 0 is without an end.
	PairedFor int `json:"pairedForDays,omitempty"`
}

// DeviceInvite is an invitation: single use, and whoever takes it waits for the person's yes.
type DeviceInvite struct {
	ID        string   `json:"id"`
	Role      string   `json:"role"`
	Link      string   `json:"link,omitempty"` // only in the answer to device.invite
	Code      string   `json:"code,omitempty"` // likewise; to be said aloud
	Addresses []string `json:"addresses"`
	// Install installs the node elsewhere, by a line for a shell, InstallWindows by one for PowerShell. Empty where the gateway ships no such node.
	Install        string `json:"install,omitempty"`
	InstallWindows string `json:"installWindows,omitempty"`
	CreatedAt      int64  `json:"createdAt"`
	ExpiresAt      int64  `json:"expiresAt"`
}

// DeviceListResult is everything about trust (extension, device.list).
type DeviceListResult struct {
	Devices  []Device        `json:"devices"`
	Requests []DeviceRequest `json:"requests"`
	Invites  []DeviceInvite  `json:"invites"`
	Network  NetworkStatus   `json:"network"`
}

// NetworkStatus is the state of the listener for other machines. It is turned on and off by the setting network.enabled.
type NetworkStatus struct {
	Enabled   bool     `json:"enabled"`
	Listening bool     `json:"listening"`
	Discovery bool     `json:"discovery"` // it can be found on the local network
	Listen    string   `json:"listen,omitempty"`
	Addresses []string `json:"addresses,omitempty"` // host:port as others reach it
	Pin       string   `json:"pin,omitempty"`       // base64 SHA-256 of the certificate's public key
	Words     []string `json:"words,omitempty"`     // of the pin
	// Problem is why it does not listen although it should.
	Problem string `json:"problem,omitempty"`
}

// DeviceRequestParams names a request (extension, device.approve and device.deny).
type DeviceRequestParams struct {
	ID string `json:"id"`
	// Name is what the device is to be called; its own name when empty.
	Name string `json:"name,omitempty"`
}

// DeviceParams names a device.
type DeviceParams struct {
	ID DeviceID `json:"deviceId"`
}

// DeviceUpdateParams changes a device; absent fields stay (extension, device.update).
type DeviceUpdateParams struct {
	ID     DeviceID `json:"deviceId"`
	Name   *string  `json:"name,omitempty"`
	Scopes *[]Scope `json:"scopes,omitempty"` // of a client
	// ExpiresAt in ms; 0 takes the end away.
	ExpiresAt *int64 `json:"expiresAt,omitempty"`
}

// InviteParams names an invitation (extension, device.uninvite).
type InviteParams struct {
	ID string `json:"id"`
}

// Reasons in the details of a 401 for a device.
const (
	RefusedRevoked = "revoked" // the person ended the pairing
	RefusedRotated = "rotated" // the token was replaced: the device fetches the new one with its key
	RefusedExpired = "expired"
	RefusedUnknown = "unknown" // forgotten here, or never paired
)

// DeviceRefused are the details of a 401 for a device, so that its end can say what happened.
type DeviceRefused struct {
	Reason string `json:"reason"`
	By     string `json:"by,omitempty"`
	At     int64  `json:"at,omitempty"`
}

// DeviceProof goes with a device's token: its signature over the TLS session, so that a stolen token alone is worth nothing.
type DeviceProof struct {
	ID        DeviceID `json:"deviceId"`
	Signature []byte   `json:"signature"`
}

// Methods for devices and their pairing, and for the registry of nodes. All but NodeForget are extensions.
var (
	NodeForget  = Method[NodeForgetParams, NodeForgetResult]{"node.forget"}
	NodesUpdate = Method[NodesUpdateParams, NodeInfo]{"nodes.update"}

	DeviceList     = Method[Empty, DeviceListResult]{"device.list"}
	DeviceInviteTo = Method[DeviceInviteParams, DeviceInvite]{"device.invite"}
	DeviceUninvite = Method[InviteParams, OK]{"device.uninvite"}
	DeviceApprove  = Method[DeviceRequestParams, Device]{"device.approve"}
	DeviceDeny     = Method[DeviceRequestParams, OK]{"device.deny"}
	DeviceUpdate   = Method[DeviceUpdateParams, Device]{"device.update"}
	DeviceRotate   = Method[DeviceParams, Device]{"device.rotate"}
	DeviceRevoke   = Method[DeviceParams, Device]{"device.revoke"}
	DeviceForget   = Method[DeviceParams, OK]{"device.forget"}
	// DeviceLeave ends the caller's own pairing.
	DeviceLeave = Method[Empty, OK]{"device.leave"}
)

// ReachOf is how far a node's tools reach by its own handshake. A node that says nothing of a sandbox has none.
func ReachOf(p ConnectParams) *Reach {
	r := &Reach{}
	for _, t := range p.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	slices.Sort(r.Tools)
	if p.NodeRuntime != nil {
		r.Caps = slices.Sorted(slices.Values(p.NodeRuntime.HostCapabilities))
		r.Caps = slices.Compact(r.Caps)
	}
	if h := p.Host; h != nil {
		r.Folders, r.Disk = h.Folders, h.WholeDisk
		if h.Enforcement != nil {
			r.Sandbox, r.Network = h.Enforcement.Mode, h.Enforcement.Network
		}
	}
	return r
}
