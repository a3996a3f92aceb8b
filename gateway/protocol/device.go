package protocol

import (
	"encoding/json"
	"errors"
	"slices"
)

// DeviceID names a paired device: the first 16 hexadecimal digits of the SHA-256 of its public key.
type DeviceID string

// Roles of a device.
const (
	RoleNode   = "node"   // a machine that runs tools
	RoleClient = "client" // a window or command line
)

// Ways in which a device was paired.
const (
	PairedByLink    = "link" // a link or QR code
	PairedByCode    = "code" // a spoken code
	PairedByRequest = "ask"  // without either: the person compared the words
	PairedBySSH     = "ssh"  // a link sent over SSH; the device's key was read over SSH too
)

// Device is a paired machine or client (extension).
type Device struct {
	ID     DeviceID `json:"deviceId"`
	Name   string   `json:"name"`
	Role   string   `json:"role"`             // node or client
	NodeID NodeID   `json:"nodeId,omitempty"` // of a node: the only ID with which it may connect
	// Scopes are the permissions of a client. A node has the fixed permissions of its role.
	Scopes []Scope `json:"scopes,omitempty"`
	// Reach is what the person allowed a node to offer; more needs a new approval.
	Reach *Reach `json:"reach,omitempty"`
	// Words and Fingerprint identify the device's key: a few words for people, and the SHA-256 in
	// hexadecimal.
	Words       []string `json:"words"`
	Fingerprint string   `json:"fingerprint"`
	OS          string   `json:"os,omitempty"`
	Hostname    string   `json:"hostname,omitempty"`
	Platform    string   `json:"platform,omitempty"`
	Version     string   `json:"version,omitempty"`
	Address     string   `json:"address,omitempty"` // address of its last connection
	Method      string   `json:"method"`
	PairedBy    string   `json:"pairedBy"` // the principal that approved it
	PairedAt    int64    `json:"pairedAt"`
	LastSeenAt  int64    `json:"lastSeenAt,omitempty"`
	Online      bool     `json:"online"`
	// RotatedAt is the time of the token's replacement, until the device has fetched the new one.
	RotatedAt int64 `json:"rotatedAt,omitempty"`
	// ExpiresAt is the end of the pairing; 0 is never.
	ExpiresAt int64  `json:"expiresAt,omitempty"`
	RevokedAt int64  `json:"revokedAt,omitempty"`
	RevokedBy string `json:"revokedBy,omitempty"`
}

// Reach describes what a node's tools can reach. A node may not exceed the reach that was allowed
// when it was paired.
type Reach struct {
	Tools   []string `json:"tools,omitempty"`        // bare names, sorted
	Caps    []string `json:"capabilities,omitempty"` // sorted
	Sandbox string   `json:"sandbox,omitempty"`      // read-only, workspace-write or full; empty: commands are not confined
	Network string   `json:"network,omitempty"`      // blocked, ask or allowed
	Disk    bool     `json:"wholeDisk,omitempty"`    // the file tools may use the whole disk
	Folders []Folder `json:"folders,omitempty"`      // the workspace first, then the granted folders
}

// Folder is a folder that a node's tools may use.
type Folder struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// DeviceInviteParams creates an invitation (extension, device.invite). At most eight can be open.
type DeviceInviteParams struct {
	// Role of the new device: node (the default) or client.
	Role string `json:"role,omitempty"`
	// Scopes of a client; missing means all of the owner's.
	Scopes []Scope `json:"scopes,omitempty"`
	Name   string  `json:"name,omitempty"` // the device's name; empty: its own
	// Minutes until the invitation expires: 1 to 60, default 10.
	Minutes int `json:"minutes,omitempty"`
	// Device, when set, is the fingerprint of the only key that may use the invitation. It is
	// approved at once, because the key was read over SSH.
	Device string `json:"device,omitempty"`
	// PairedFor is the length of the pairing in days; 0 is without an end.
	PairedFor int `json:"pairedForDays,omitempty"`
	// Unattended pairs the machine that uses the invitation at once, without a question. It is for
	// nodes only.
	Unattended bool `json:"unattended,omitempty"`
}

// DeviceInvite is an invitation. It works once, and the person still has to approve the device.
type DeviceInvite struct {
	ID        string   `json:"id"`
	Role      string   `json:"role"`           // node or client
	Link      string   `json:"link,omitempty"` // only in the result of device.invite
	Code      string   `json:"code,omitempty"` // only in the result of device.invite; to be read aloud
	Addresses []string `json:"addresses"`
	// Install is a shell command that installs the node on another machine, pairs it with this
	// invitation and starts it. InstallWindows is one for PowerShell, InstallCmd one for the Windows
	// Command Prompt. They are empty when the gateway has no node programs to offer.
	Install        string `json:"install,omitempty"`
	InstallWindows string `json:"installWindows,omitempty"`
	InstallCmd     string `json:"installCmd,omitempty"`
	CreatedAt      int64  `json:"createdAt"`
	ExpiresAt      int64  `json:"expiresAt"`
}

// DeviceListResult lists devices and invitations (extension, device.list).
type DeviceListResult struct {
	Devices []Device       `json:"devices"`
	Invites []DeviceInvite `json:"invites"`
	Network NetworkStatus  `json:"network"`
}

// NetworkStatus is the state of the listener for other machines, which network.enabled turns on.
type NetworkStatus struct {
	Enabled   bool     `json:"enabled"`
	Listening bool     `json:"listening"`
	Discovery bool     `json:"discovery"` // the gateway can be discovered on the local network
	Listen    string   `json:"listen,omitempty"`
	Addresses []string `json:"addresses,omitempty"` // host:port, as other machines reach it
	Pin       string   `json:"pin,omitempty"`       // base64 SHA-256 of the certificate's public key
	Words     []string `json:"words,omitempty"`     // of the pin
	// Problem is the reason why it does not listen although it is enabled.
	Problem string `json:"problem,omitempty"`
}

// DeviceParams names a device.
type DeviceParams struct {
	ID DeviceID `json:"deviceId"`
}

// DeviceUpdateParams changes a device; missing fields stay as they are (extension, device.update).
type DeviceUpdateParams struct {
	ID     DeviceID `json:"deviceId"`
	Name   *string  `json:"name,omitempty"`
	Scopes *[]Scope `json:"scopes,omitempty"` // of a client
	// ExpiresAt is a time in Unix milliseconds; 0 removes the end.
	ExpiresAt *int64 `json:"expiresAt,omitempty"`
}

// InviteParams names an invitation (extension, device.uninvite).
type InviteParams struct {
	ID string `json:"id"`
}

// Reasons in the details of a 401 for a device.
const (
	RefusedRevoked = "revoked" // the person revoked the pairing
	RefusedRotated = "rotated" // the token was replaced; the device fetches the new one with its key
	RefusedExpired = "expired"
	RefusedUnknown = "unknown" // removed here, or never paired
)

// DeviceRefused is the details of a 401 error for a device: the reason for the refusal.
type DeviceRefused struct {
	Reason string `json:"reason"` // revoked, rotated, expired or unknown
	By     string `json:"by,omitempty"`
	At     int64  `json:"at,omitempty"`
}

// NameTaken is the details of a 409 error for a node that wants to be paired with the ID of another
// machine.
type NameTaken struct {
	Free NodeID `json:"free"` // an ID that no machine has
}

// FreeName returns the name that the error of a pairing suggests, because another machine has the
// name of this one; empty for other errors.
func FreeName(err error) NodeID {
	var taken NameTaken
	if e, ok := errors.AsType[*Error](err); !ok || json.Unmarshal(e.Details, &taken) != nil {
		return ""
	}
	return taken.Free
}

// DeviceProof accompanies a device's token: its signature over the TLS session, so that a stolen
// token alone is worthless (docs/protocol.md#pairing).
type DeviceProof struct {
	ID        DeviceID `json:"deviceId"`
	Signature []byte   `json:"signature"`
}

// Methods for devices, pairing and the registry of nodes. All but NodeForget are extensions.
var (
	NodeForget  = Method[NodeForgetParams, NodeForgetResult]{"node.forget", ScopeAdmin, clients, gsv}
	NodesUpdate = Method[NodesUpdateParams, NodeInfo]{"nodes.update", ScopeAdmin, clients, extension}

	DeviceList     = Method[Empty, DeviceListResult]{"device.list", ScopeRead, clients, extension}
	DeviceInviteTo = Method[DeviceInviteParams, DeviceInvite]{"device.invite", ScopeAdmin, clients, extension}
	DeviceUninvite = Method[InviteParams, OK]{"device.uninvite", ScopeAdmin, clients, extension}
	DeviceUpdate   = Method[DeviceUpdateParams, Device]{"device.update", ScopeAdmin, clients, extension}
	DeviceRotate   = Method[DeviceParams, Device]{"device.rotate", ScopeAdmin, clients, extension}
	DeviceRevoke   = Method[DeviceParams, Device]{"device.revoke", ScopeAdmin, clients, extension}
	DeviceForget   = Method[DeviceParams, OK]{"device.forget", ScopeAdmin, clients, extension}
	// DeviceLeave ends the caller's own pairing.
	DeviceLeave = Method[Empty, OK]{"device.leave", ScopeNone, clientsAndNodes, extension}
)

// ReachOf returns the reach that a node declares in its handshake; no sandbox by default.
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
