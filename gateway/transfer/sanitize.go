package transfer

import (
	"strings"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Limits of the reports of an end. They are stored and shown in every window, so they are cut off
// here: no count is negative, and no text is longer than a path with a short explanation.
const (
	maxText     = 8 << 10 // bytes of a text
	maxProblems = 50      // our own ends report no more
)

func sanitizeText(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "�")
}

func sanitizeProblems(list []protocol.TransferProblem) []protocol.TransferProblem {
	list = list[:min(len(list), maxProblems)]
	for i, p := range list {
		list[i] = protocol.TransferProblem{Path: sanitizeText(p.Path), Text: sanitizeText(p.Text)}
	}
	return list
}

func sanitizeMeta(p protocol.TransferMetaParams) protocol.TransferMetaParams {
	p.Error, p.Mime, p.Files, p.Holes = sanitizeText(p.Error), sanitizeText(p.Mime), max(p.Files, 0), max(p.Holes, 0)
	if p.Size != nil && *p.Size < 0 && p.Error == "" {
		p.Error = "The source reported a negative size"
	}
	return p
}

func sanitizeDone(p protocol.TransferDoneParams) protocol.TransferDoneParams {
	p.Error, p.Path, p.Problems = sanitizeText(p.Error), sanitizeText(p.Path), sanitizeProblems(p.Problems)
	p.Files, p.Skipped, p.Failed, p.Kept = max(p.Files, 0), max(p.Skipped, 0), max(p.Failed, 0), max(p.Kept, 0)
	if p.BytesWritten != nil {
		n := max(*p.BytesWritten, 0)
		p.BytesWritten = &n
	}
	return p
}

func sanitizeUndone(u protocol.TransferUndone) protocol.TransferUndone {
	u.Error, u.Back, u.Problems = sanitizeText(u.Error), max(u.Back, 0), sanitizeProblems(u.Problems)
	return u
}

func sanitizeProgress(a stream.ProgressReport) stream.ProgressReport {
	return stream.ProgressReport{Files: max(a.Files, 0), Bytes: max(a.Bytes, 0), Current: sanitizeText(a.Current)}
}
