//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"fairlead/gateway/protocol"
)

// storingMethods are the methods that store something, each with its calls.
var storingMethods = map[string][]storingCall{
	"chat.send": {
		{prepare: params(`{"sessionKey":"agent:main:$","message":"what can you do","runId":"$run"}`)},
		{prepare: params(`{"sessionKey":"agent:main:$","message":"/model operator/built-in"}`), failed: func(raw json.RawMessage) bool { return strings.Contains(string(raw), "Command failed") }},
	},
	"config.set": {
		{prepare: params(`{"path":"userTimezone","value":"Europe/Berlin"}`)},
		{prepare: params(`{"path":"budget","value":{"dailyUsd":5}}`)},
		{prepare: params(`{"path":"apiKeys.openai","value":"sk-$"}`), hasSecret: true},
		{prepare: params(`{"path":"apiKeys","value":{"anthropic":"sk-$","google":"sk-$"}}`), hasSecret: true},
		{prepare: func(r *refusal) any {
			ask(r.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "apiKeys.groq", Value: json.RawMessage(`"sk-groq"`)})
			return json.RawMessage(`{"path":"apiKeys.groq","value":null}`)
		}, hasSecret: true},
		{prepare: params(`{"path":"auth.token","value":"token-$"}`), hasSecret: true},
	},
	"session.patch": {
		{prepare: params(`{"sessionKey":"agent:main:main","label":"$"}`)},
		{prepare: params(`{"sessionKey":"agent:main:main","tags":["$"]}`)},
		{prepare: params(`{"sessionKey":"agent:main:main","pinned":true}`)},
		{prepare: params(`{"sessionKey":"agent:main:main","archived":true}`)},
		{prepare: params(`{"sessionKey":"agent:main:main","settings":{"approvals":{"mode":"read-only"}}}`)},
	},
	"session.create": with(params(`{"label":"$"}`)),
	"session.reset":  inChat(ofChat),
	"session.delete": inChat(ofChat),
	"session.restore": inChat(func(r *refusal, key protocol.SessionKey, _ protocol.MessageID) any {
		ask(r.accessGateway, protocol.SessionDelete, protocol.SessionParams{SessionKey: key})
		return protocol.SessionParams{SessionKey: key}
	}),
	"session.compact": inChat(func(_ *refusal, key protocol.SessionKey, _ protocol.MessageID) any {
		return protocol.SessionCompactParams{SessionKey: key, KeepMessages: new(1)}
	}),
	"session.uncompact": inChat(func(r *refusal, key protocol.SessionKey, _ protocol.MessageID) any {
		ask(r.accessGateway, protocol.SessionCompact, protocol.SessionCompactParams{SessionKey: key, KeepMessages: new(1)})
		return protocol.SessionParams{SessionKey: key}
	}),
	"session.archive.restore": inChat(func(r *refusal, key protocol.SessionKey, _ protocol.MessageID) any {
		ask(r.accessGateway, protocol.SessionReset, protocol.SessionParams{SessionKey: key})
		list := ask(r.accessGateway, protocol.SessionArchives, protocol.SessionParams{SessionKey: key}).Archives
		return protocol.SessionArchiveRestoreParams{SessionKey: key, ID: list[0].ID}
	}),
	"session.fork": inChat(func(_ *refusal, key protocol.SessionKey, id protocol.MessageID) any {
		return protocol.SessionForkParams{SessionKey: key, MessageID: id}
	}),
	"session.message.delete": inChat(func(_ *refusal, key protocol.SessionKey, id protocol.MessageID) any {
		return protocol.MessageParams{SessionKey: key, MessageID: id}
	}),
	"chat.resend": inChat(func(r *refusal, key protocol.SessionKey, id protocol.MessageID) any {
		return protocol.ChatResendParams{SessionKey: key, MessageID: id, Message: new("what can you do now")}
	}),

	"chat.cancel":      {{prepare: func(r *refusal) any { return r.queued() }, isRunning: true}},
	"workspace.write":  {{prepare: params(`{"path":"$.md","content":"x"}`), isFile: true}},
	"workspace.delete": {{prepare: func(r *refusal) any { return r.note() }, isFile: true}},

	"tool.result":     {{prepare: func(r *refusal) any { return r.result() }, by: asPeer}},
	"node.exec.event": {{prepare: func(r *refusal) any { return r.execEvent() }, by: asPeer}},
	"node.forget":     with(func(r *refusal) any { return protocol.NodeForgetParams{NodeID: r.offline()} }),

	"transfer.start":  with(func(r *refusal) any { return r.transferParams() }),
	"transfer.pause":  with(func(r *refusal) any { return r.transfer() }),
	"transfer.cancel": with(func(r *refusal) any { return r.transfer() }),
	"transfer.resume": with(func(r *refusal) any { return ofTransfer(ask(r.accessGateway, protocol.TransferPause, r.transfer())) }),
	"transfer.retry":  with(func(r *refusal) any { return ofTransfer(ask(r.accessGateway, protocol.TransferCancel, r.transfer())) }),
	"transfer.undo":   with(func(r *refusal) any { return r.finishedTransfer() }),
	"transfer.forget": with(func(r *refusal) any {
		return protocol.TransferForgetParams{IDs: []protocol.TransferID{ask(r.accessGateway, protocol.TransferCancel, r.transfer()).ID}}
	}),

	"tool.invoke": with(params(`{"tool":"box__Write","args":{"path":"$","content":"x"}}`)),
	"tool.request": {{
		prepare: params(`{"callId":"$","tool":"box__Write","args":{"path":"$","content":"x"},"sessionKey":"agent:main:main"}`),
		await:   func(r *refusal) { r.untilResult("agent:main:main", protocol.CallID(fmt.Sprint("n", r.n))) },
	}},
	"catalog.call": {{
		prepare: func(r *refusal) any {
			path := mustQuote(filepath.Join(r.workspace, r.name("n")))
			return protocol.CatalogCallParams{Tool: "file", Args: json.RawMessage(`{"target":{"node_name":"box"},"op":"mkdir","path":` + path + `}`)}
		},
		failed: func(raw json.RawMessage) bool { return strings.Contains(string(raw), `"fault"`) },
	}},
	"files.make": with(params(`{"nodeId":"box","path":"$"}`)),

	"cron.add": with(params(`{"name":"$","schedule":{"kind":"every","everyMs":86400000},"spec":{"mode":"systemEvent","text":"hi"}}`)),
	"cron.update": with(func(r *refusal) any {
		return protocol.CronUpdateParams{ID: r.job(), Patch: &protocol.CronJobPatch{Name: new(r.name("new"))}}
	}),
	"cron.remove": with(func(r *refusal) any { return protocol.CronJobParams{ID: r.job()} }),
	"cron.run":    with(func(r *refusal) any { return protocol.CronRunParams{ID: r.job(), Mode: protocol.CronRunForce} }),
	"heartbeat.start": with(func(r *refusal) any {
		ask(r.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "agents.defaultHeartbeat.every", Value: json.RawMessage(`"1h"`)})
		return protocol.Empty{}
	}),
	"heartbeat.trigger": with(params(`{"agentId":"main"}`)),

	"channel.inbound": {{prepare: inbound, by: asChannel}},
	"channel.start":   {{prepare: func(r *refusal) any { return accountOf(r.name("acc")) }, hasSecret: true}},
	"channel.login": {{prepare: func(r *refusal) any {
		p := accountOf(r.name("acc"))
		return protocol.ChannelLoginParams{Channel: p.Channel, AccountID: p.AccountID, Config: p.Config}
	}, hasSecret: true, needsNetwork: true}},
	"channel.stop":   with(func(r *refusal) any { return r.account() }),
	"channel.logout": {{prepare: func(r *refusal) any { return r.account() }, hasSecret: true}},
	"pair.approve":   with(func(r *refusal) any { return r.stranger() }),
	"pair.reject":    with(func(r *refusal) any { return r.stranger() }),

	"question.answer": {
		answerWith(protocol.ScopeOnce), answerWith(protocol.ScopeSession), answerWith(protocol.ScopeFolder), answerWith(protocol.ScopeMachine), answerWith(protocol.ScopeAlways),
		{prepare: func(r *refusal) any { return answerTo(r.pairing(), protocol.DecisionAllow) }},
		{prepare: func(r *refusal) any { return answerTo(r.pairing(), protocol.DecisionDeny) }},
		{prepare: func(r *refusal) any { return answerTo(r.consent(), protocol.DecisionAllow) }},
		{prepare: func(r *refusal) any { return answerTo(r.consent(), protocol.DecisionDeny) }},
	},
	"question.answerAll": {{
		prepare: func(r *refusal) any {
			q := r.question()
			return protocol.QuestionAnswerAllParams{Questions: []protocol.ShownQuestion{{ID: q.ID, Hash: q.Hash}}, Decision: protocol.DecisionAllow, Scope: protocol.ScopeAlways}
		},
		failed: func(raw json.RawMessage) bool { return strings.Contains(string(raw), `"error"`) },
	}},
	"question.snooze": with(func(r *refusal) any {
		return protocol.QuestionSnoozeParams{IDs: []protocol.QuestionID{r.question().ID}, For: 60_000}
	}),
	"question.shown": with(func(r *refusal) any { return protocol.QuestionShownParams{ID: r.question().ID} }),
	"question.undo": with(func(r *refusal) any {
		q := r.question()
		ask(r.accessGateway, protocol.QuestionAnswer, answerOf(q, protocol.ScopeAlways))
		return protocol.QuestionParams{ID: q.ID}
	}),
	"rules.put":    with(params(`{"policy":{"tool":"Bash","argv":["$"],"verdict":"deny"}}`)),
	"rules.delete": with(func(r *refusal) any { return protocol.RuleParams{ID: r.rule().ID} }),
	"rules.restore": with(func(r *refusal) any {
		p := protocol.RuleParams{ID: r.rule().ID}
		ask(r.accessGateway, protocol.RuleDelete, p)
		return p
	}),
	"rules.import": with(func(r *refusal) any {
		rule := r.rule()
		file := ask(r.accessGateway, protocol.RulesSave, protocol.Empty{}).File
		ask(r.accessGateway, protocol.RuleDelete, protocol.RuleParams{ID: rule.ID})
		return protocol.RulesImportParams{File: file}
	}),
	"agent.pause": with(func(r *refusal) any {
		ask(r.accessGateway, protocol.AgentPause, protocol.PauseParams{Paused: true})
		return protocol.PauseParams{}
	}),
	"skills.enable": with(func(r *refusal) any {
		list := ask(r.accessGateway, protocol.SkillsStatus, protocol.SkillsParams{}).Skills
		return protocol.SkillsEnableParams{Name: list[0].Name, Enabled: r.n%2 == 0}
	}),
	"nodes.update": with(params(`{"nodeId":"box","name":"$"}`)),

	"networks.create": with(params(`{"name":"$"}`)),
	"networks.rename": with(func(r *refusal) any {
		return protocol.NetworkRenameParams{Network: r.network(), Name: r.name("new")}
	}),
	"networks.delete": with(func(r *refusal) any { return protocol.NetworkParams{Network: r.network()} }),
	"networks.move":   with(func(r *refusal) any { return protocol.NetworkMoveParams{NodeID: "box", Network: r.network()} }),

	"device.update": with(func(r *refusal) any { return protocol.DeviceUpdateParams{ID: r.device(), Name: new(r.name("new"))} }),
	"device.rotate": with(func(r *refusal) any { return protocol.DeviceParams{ID: r.device()} }),
	"device.revoke": with(func(r *refusal) any { return protocol.DeviceParams{ID: r.device()} }),
	"device.leave":  {{prepare: func(r *refusal) any { return r.connectClient() }, by: asPeer}},
	"device.forget": with(func(r *refusal) any { return protocol.DeviceParams{ID: r.device()} }),

	"apps.update":    with(func(r *refusal) any { return protocol.AppUpdateParams{ID: r.app(), Name: new(r.name("new"))} }),
	"apps.revoke":    with(func(r *refusal) any { return protocol.AppParams{ID: r.app()} }),
	"tokens.create":  with(params(`{"name":"$","scopes":["fs.read"]}`)),
	"servers.set":    {{prepare: func(r *refusal) any { return serverOf(r.name("srv")) }, hasSecret: true}},
	"servers.remove": {{prepare: func(r *refusal) any { return r.server() }, hasSecret: true}},
}

// otherMethods are the methods without a row, each with the reason.
var otherMethods = func() map[string]string {
	all := map[string]string{}
	for reason, names := range map[string]string{
		"only reads": `connect tools.list logs.get config.get session.get session.stats session.history session.preview sessions.list cron.status cron.list
			cron.runs heartbeat.status channels.list channel.status pair.list skills.status skills.update transfer.list transfer.get workspace.list
			workspace.read files.list files.find files.changes files.diff files.read config.schema feed.subscribe media.get question.list question.get question.watch nodes.list device.list
			status.get models.providers models.list models.test models.detect models.local sessions.search session.archives session.archive.read journal.list
			rules.list rules.try rules.export audit.list audit.verify usage.report cron.preview apps.list catalog.list servers.list servers.parse
			servers.find servers.logs servers.items servers.read services.list services.target services.visits forward.list exposure.list networks.list terminal.list provisioning.list provisioning.offer`,
		"stores nothing: what it changes ends with the gateway": `models.pull models.pullStop device.invite device.uninvite call.cancel apps.stop servers.restart servers.signIn
			files.unwatch files.changed tool.progress logs.result channel.delivered forward.close terminal.close terminal.report`,
		"gateway/service has the test: TestNoLinkIsGivenOutThatIsNotStored":      "services.link",
		"gateway/provision has the test: TestSettingsThatAreNotStoredAreAnError": "provisioning.settings",
		"gateway/service has the test: TestASignInStaysWhoseEndIsNotStored":      "services.signout",
		"gateway/service has the test: TestAServiceStaysOpenWhoseEndIsNotStored": "services.close",
		"takes the path of files.make":                                           "files.move files.trash files.restore files.revert files.write",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = reason
		}
	}
	return all
}()
