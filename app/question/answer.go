package question

import "fairlead/gateway/protocol"

// Answer returns the answer yes or no.
func Answer(allow bool) protocol.QuestionAnswerParams {
	if allow {
		return protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow}
	}
	return protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}
}
