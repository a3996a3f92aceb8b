package feed

import (
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// PullList has the downloads of models that changed during this connection. They are newer than
// those of models.local.
type PullList []protocol.ModelPull

// Find returns the download of a model by its ID.
func (l PullList) Find(model string) (protocol.ModelPull, bool) {
	return lists.Find(l, func(p protocol.ModelPull) bool { return p.Model == model })
}

// applyPull applies the state of a download. A complete one changes which models are there.
func (f *Facts) applyPull(p protocol.ModelPull) {
	f.Pulls.Update(func(l *PullList) {
		*l = lists.Replace(*l, p, func(x protocol.ModelPull) bool { return x.Model == p.Model })
	})
	if p.State == protocol.PullDone {
		f.count(protocol.ChangeLocalModels)
	}
}
