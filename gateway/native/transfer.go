package native

import (
	"context"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// TransferIn are the arguments of gsv__Transfer. The fields after Destination are extensions.
type TransferIn struct {
	Source      string   `json:"source" jsonschema:"where the file is: machine:/path/to/file, or gsv:path for a file of your own workspace; a folder is moved whole"`
	Destination string   `json:"destination" jsonschema:"where it shall be, written the same way"`
	Sources     []string `json:"sources,omitempty" jsonschema:"several sources, all on one machine, instead of source; destination is then the folder to put them into"`
	Into        bool     `json:"into,omitempty" jsonschema:"destination is a folder to put the source into under its own name"`
	Conflict    string   `json:"conflict,omitempty" jsonschema:"what to do with a file that is there already: overwrite (the person can have the old one back for 30 days), rename (the new one gets a number) or skip; default overwrite"`
	Links       string   `json:"links,omitempty" jsonschema:"what to do with symbolic links in a folder: keep, follow or skip; default keep"`
	Later       bool     `json:"later,omitempty" jsonschema:"when a machine is not connected, wait for it instead of failing"`
	ExpiresIn   int64    `json:"expiresInMs,omitempty" jsonschema:"how many milliseconds to wait for a machine; default seven days"`
	Wait        *bool    `json:"wait,omitempty" jsonschema:"false answers as soon as the transfer is in the queue; default true, which waits until the files have arrived"`
}

// TransferOut is the result of gsv__Transfer: the transfer's end, or its start if Wait is false.
// The fields after Mime are extensions.
type TransferOut struct {
	Source           string              `json:"source"`
	Destination      string              `json:"destination"` // with the written name, if the file was renamed
	BytesTransferred int64               `json:"bytesTransferred"`
	Mime             string              `json:"mime,omitempty"`
	Path             string              `json:"path,omitempty"`    // the present path of the first file or folder
	Skipped          int                 `json:"skipped,omitempty"` // files that were left as they were, or existed already
	TransferID       protocol.TransferID `json:"transferId,omitempty"`
	State            string              `json:"state,omitempty"`
}

func (t *Tools) transfer(ctx context.Context, call tool.Call, in TransferIn) (TransferOut, error) {
	if t.s.Transfer == nil {
		return TransferOut{}, protocol.ErrUnavailable.With("No files can be moved here. Read the file on one machine and write it on the other.")
	}
	return t.s.Transfer(ctx, call, in)
}
