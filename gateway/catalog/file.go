package catalog

import (
	"context"
	"encoding/json"
	"slices"

	"fairlead/gateway/protocol"
)

// fileIn are the arguments of the tool file: those of all of its operations.
type fileIn struct {
	FileID         string            `json:"file_id,omitempty" jsonschema:"continues a read or write, without target"`
	Target         *Target           `json:"target,omitempty" jsonschema:"the machine"`
	Op             operation         `json:"op,omitempty" jsonschema:"optional with file_id"`
	Path           string            `json:"path,omitempty" jsonschema:"absolute"`
	Encoding       encoding          `json:"encoding,omitempty" jsonschema:"default base64"`
	Offset         int64             `json:"offset,omitempty" jsonschema:"read: first byte"`
	MaxBytes       int               `json:"max_bytes,omitempty" jsonschema:"read: at most 1 MiB"`
	ChunkB64       *string           `json:"chunk_b64,omitempty" jsonschema:"write: next part, in Base64"`
	Chunk          *string           `json:"chunk,omitempty" jsonschema:"write: next part, as text"`
	Done           bool              `json:"done,omitempty" jsonschema:"write: last part"`
	Mode           string            `json:"mode,omitempty" jsonschema:"octal"`
	Recursive      bool              `json:"recursive,omitempty" jsonschema:"of list, delete, mkdir"`
	Force          bool              `json:"force,omitempty" jsonschema:"delete near the root"`
	Limit          int               `json:"limit,omitempty" jsonschema:"of list"`
	OldString      *string           `json:"old_string,omitempty" jsonschema:"edit: exact text"`
	NewString      *string           `json:"new_string,omitempty" jsonschema:"edit: replacement"`
	ReplaceAll     bool              `json:"replace_all,omitempty" jsonschema:"edit: every occurrence"`
	Edits          []editStep        `json:"edits,omitempty" jsonschema:"multi_edit: all or none"`
	ExpectedSHA256 string            `json:"expected_sha256,omitempty" jsonschema:"of the old file, or the download"`
	Ops            []json.RawMessage `json:"ops,omitempty" jsonschema:"batch: at most 100, without target"`
	URL            string            `json:"url,omitempty" jsonschema:"of fetch_url"`
	Headers        map[string]string `json:"headers,omitempty" jsonschema:"of fetch_url"`
	FetchMaxBytes  int64             `json:"fetch_max_bytes,omitempty" jsonschema:"at most 1 GiB; default 256 MiB"`
}

// fileOut has the fields of the operation's result.
type fileOut struct {
	FileID       string        `json:"file_id,omitempty"`
	Path         string        `json:"path,omitempty"`
	ChunkB64     *string       `json:"chunk_b64,omitempty"`
	Chunk        *string       `json:"chunk,omitempty"`
	Offset       *int64        `json:"offset,omitempty"`
	Size         *int          `json:"size,omitempty"`
	Total        *int64        `json:"total,omitempty"`
	SHA256       string        `json:"sha256,omitempty"`
	Done         *bool         `json:"done,omitempty"`
	Entries      *[]fileEntry  `json:"entries,omitempty"`
	Entry        *fileEntry    `json:"entry,omitempty"`
	Count        *int          `json:"count,omitempty"`
	Truncated    bool          `json:"truncated,omitempty"`
	EditsApplied int           `json:"edits_applied,omitempty"`
	OldSize      *int64        `json:"old_size,omitempty"`
	OldSHA256    string        `json:"old_sha256,omitempty"`
	BatchResults []batchResult `json:"batch_results,omitempty" jsonschema:"one result for each of ops, in order"`
	DurationMs   int64         `json:"duration_ms"`
}

type batchResult struct {
	Op    string          `json:"op"`
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data,omitempty" jsonschema:"the result of the operation"`
	Error *protocol.Fault `json:"error,omitempty"`
}

const maxBatch = 100

// reading are the operations that change nothing.
var reading = []operation{opRead, opList, opStat}

// entry returns the tool file.
func (f files) entry() *entry {
	both := []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeFilesWrite}
	return newEntry(protocol.CatalogTool{
		Name: "file", Title: "Work with files", Mode: OneShot, Destructive: true, OpenWorld: true, Scopes: both,
		Description: "Works with files by op. Use it for batch and fetch_url (a download); for one operation, prefer the fs_ tools, which describe arguments.",
	}, fileIn.scopes, f.file)
}

// scopes returns the scopes of the operation; of a batch, those of all its operations.
func (in fileIn) scopes() []protocol.Scope {
	if in.Op != opBatch {
		return []protocol.Scope{in.scope()}
	}
	var list []protocol.Scope
	for _, raw := range in.Ops {
		var sub fileIn
		protocol.Unmarshal(raw, &sub) // as in batch, which refuses invalid ones and batches
		list = append(list, sub.scope())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// scope returns the scope of one operation. A call that continues a file needs what begins with the
// same arguments.
func (in fileIn) scope() protocol.Scope {
	if slices.Contains(reading, in.Op) || in.Op == "" && in.Chunk == nil && in.ChunkB64 == nil && !in.Done {
		return protocol.ScopeFilesRead
	}
	return protocol.ScopeFilesWrite
}

func (in fileIn) write() writeIn {
	return writeIn{in.FileID, in.Target, in.Path, in.Mode, in.Encoding, in.Chunk, in.ChunkB64, in.Done, in.ExpectedSHA256}
}

func (in fileIn) edit() editIn {
	return editIn{in.Target, in.Path, in.OldString, in.NewString, in.ReplaceAll, in.Edits, in.ExpectedSHA256}
}

func (in fileIn) remove() deleteIn { return deleteIn{in.Target, in.Path, in.Recursive, in.Force} }

func (in fileIn) mkdir() mkdirIn { return mkdirIn{in.Target, in.Path, in.Mode, in.Recursive} }

// fetch returns the arguments for the machine. Unless the caller named the checksum, the machine holds
// the content, which takes effect by another call.
func (in fileIn) fetch() nodeFetch {
	return nodeFetch{in.Path, in.URL, in.Headers, in.FetchMaxBytes, in.ExpectedSHA256, in.Mode, in.ExpectedSHA256 == ""}
}

func (f files) file(ctx context.Context, x *call, in fileIn) (out fileOut, message string, err error) {
	if in.FileID != "" && in.Op == "" {
		if in.Op = opRead; in.Chunk != nil || in.ChunkB64 != nil || in.Done {
			in.Op = opWrite
		}
	}
	if in.Op == opBatch {
		return f.batch(ctx, x, in)
	}
	var part any
	switch in.Op {
	case opRead:
		part, message, err = result(f.read(ctx, x, readIn{in.FileID, in.Target, in.Path, in.Offset, in.Encoding, in.MaxBytes}))
	case opWrite:
		part, message, err = result(f.write(ctx, x, in.write()))
	case opEdit, opMultiEdit:
		if in.Op == opEdit && len(in.Edits) > 0 || in.Op == opMultiEdit && (in.OldString != nil || in.NewString != nil) {
			return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "edit takes old_string and new_string, multi_edit takes edits")
		}
		part, message, err = result(f.edit(ctx, x, in.edit()))
	case opList:
		part, message, err = result(forwardFile[listIn, listOut](f.net, fsList, listIn.target)(ctx, x, listIn{in.Target, in.Path, in.Recursive, in.Limit}))
	case opStat:
		part, message, err = result(forwardFile[statIn, statOut](f.net, fsStat, statIn.target)(ctx, x, statIn{in.Target, in.Path}))
	case opDelete:
		part, message, err = result(forwardFile[deleteIn, pathOut](f.net, fsDelete, deleteIn.target)(ctx, x, in.remove()))
	case opMkdir:
		part, message, err = result(forwardFile[mkdirIn, pathOut](f.net, fsMkdir, mkdirIn.target)(ctx, x, in.mkdir()))
	case opFetch:
		part, message, err = result(f.fetch(ctx, x, in))
	default:
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "op is required: read, write, edit, multi_edit, list, stat, delete, mkdir, batch or fetch_url")
	}
	if err == nil {
		err = protocol.Unmarshal(protocol.Encode(part), &out)
	}
	return out, message, err
}

// result makes the results of the operations one type.
func result[Out any](out Out, message string, err error) (any, string, error) {
	return out, message, err
}

// nodeFetch are the arguments of a machine's tool fs_fetch.
type nodeFetch struct {
	Path           string            `json:"path"`
	URL            string            `json:"url"`
	Headers        map[string]string `json:"headers,omitempty"`
	FetchMaxBytes  int64             `json:"fetch_max_bytes,omitempty"`
	ExpectedSHA256 string            `json:"expected_sha256,omitempty"`
	Mode           string            `json:"mode,omitempty"`
	Hold           bool              `json:"hold,omitempty"` // the content takes effect by another call
}
