package transfer

import (
	"strings"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Limits of the reports of an end. They are stored and shown in every window, so they are cut off
// here: no count is negative, and no text is longer than a path with a short explanation.
const (
	maxSaid     = 8 << 10 // bytes of a text
	maxProblems = 50      // our own ends report no more
)

func said(text string) string {
	if len(text) > maxSaid {
		text = text[:maxSaid]
	}
	return strings.ToValidUTF8(text, "�")
}

func saidProblems(list []protocol.TransferProblem) []protocol.TransferProblem {
	list = list[:min(len(list), maxProblems)]
	for i, p := range list {
		list[i] = protocol.TransferProblem{Path: said(p.Path), Text: said(p.Text)}
	}
	return list
}

func saidMeta(p protocol.TransferMetaParams) protocol.TransferMetaParams {
	p.Error, p.Mime, p.Files, p.Holes = said(p.Error), said(p.Mime), max(p.Files, 0), max(p.Holes, 0)
	if p.Size != nil && *p.Size < 0 && p.Error == "" {
		p.Error = "The source reported a negative size"
	}
	return p
}

func saidDone(p protocol.TransferDoneParams) protocol.TransferDoneParams {
	p.Error, p.Path, p.Problems = said(p.Error), said(p.Path), saidProblems(p.Problems)
	p.Files, p.Skipped, p.Failed, p.Kept = max(p.Files, 0), max(p.Skipped, 0), max(p.Failed, 0), max(p.Kept, 0)
	if p.BytesWritten != nil {
		n := max(*p.BytesWritten, 0)
		p.BytesWritten = &n
	}
	return p
}

func saidUndone(u protocol.TransferUndone) protocol.TransferUndone {
	u.Error, u.Back, u.Problems = said(u.Error), max(u.Back, 0), saidProblems(u.Problems)
	return u
}

func saidArrived(a stream.ProgressReport) stream.ProgressReport {
	return stream.ProgressReport{Files: max(a.Files, 0), Bytes: max(a.Bytes, 0), Current: said(a.Current)}
}
