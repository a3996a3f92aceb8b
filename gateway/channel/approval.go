package channel

import (
	"context"
	"fmt"

	"fairlead/gateway/protocol"
)

// NotifyApproval notifies the person on the channel in the settings (approvals.tell) of an approval
// that nobody has seen; sent is false if there is none. machine is the name of the approval's
// machine. The message does not contain the call, because the channel's network belongs to others,
// and no reply from there answers an approval.
func (h *Hub) NotifyApproval(ctx context.Context, a protocol.Approval, machine string) (sent bool, err error) {
	to := h.o.Config().Approvals.Tell
	if to.Channel == "" || to.To == "" {
		return false, nil
	}
	what := "wants to continue"
	if a.Kind == protocol.AskCall {
		what = fmt.Sprintf("wants to use %s on %s", a.Tool, machine)
	}
	text := fmt.Sprintf("Fairlead needs your approval: the agent %s, and no window shows the question. Answer in a Fairlead window, or with fairlead approvals.", what)
	_, err = h.SendMessage(ctx, a.SessionKey, Outgoing{Text: text, Channel: to.Channel, AccountID: to.Account, To: to.To})
	return err == nil, err
}
