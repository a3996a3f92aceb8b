package config

import "fairlead/gateway/protocol"

// setting describes one setting to people. In the path, "*" stands for a name that the person
// chooses. Type, default and limits come from the fields of [Config].
type setting struct {
	path, title, unit, format, description string
}

// groups are all settings as the settings window shows them. A test checks that they are exactly
// the fields of [Config].
var groups = []struct {
	title    string
	settings []setting
}{
	{"Model", []setting{
		{"model.provider", "Provider", "", "", "The provider for chats without one of their own. \"operator\" is the built-in operator, which needs no model."},
		{"model.id", "Model", "", "", "The model of that provider."},
		{"model.thinkingLevel", "Thinking level", "", "", "How much the model thinks before it answers. Empty uses the model's default."},
	}},
	{"API keys", []setting{
		{"apiKeys.*", "API key", "", "", "The API key for the provider of this name. It is stored in the system's keychain."},
	}},
	{"Providers", []setting{
		{"providers.*.baseUrl", "Address", "", protocol.FormatURL, "The address of the provider's API, if it is not the usual one."},
		{"providers.*.wire", "API", "", "", "The API of the server: \"chat\" or \"responses\". Empty chooses by the address."},
	}},
	{"Timeouts", []setting{
		{"timeouts.llmMs", "Model timeout", "", protocol.FormatMillis, "How long a model may take for one step."},
		{"timeouts.toolMs", "Tool timeout", "", protocol.FormatMillis, "How long a tool may take, unless the call asks for more time."},
	}},
	{"Gateway", []setting{
		{"auth.token", "Access token", "", "", "The token with which clients and nodes connect. A new token applies at once; existing connections stay open."},
	}},
	{"Agent", []setting{
		{"agent.maxSteps", "Steps before a question", "steps", "", "How many steps a run may take before it asks you whether to continue."},
		{"systemPrompt", "System prompt", "", protocol.FormatLines, "Instructions for every agent, unless its chat or the agent has its own."},
	}},
	{"Approvals", []setting{
		{"approvals.timeoutMs", "Approval timeout", "", protocol.FormatMillis, "After this time, an unanswered approval is denied. 0 means never; for schedules, the heartbeat and unknown senders, a day."},
		{"approvals.tell.channel", "Notification channel", "", "", "The channel that notifies you of an approval which no window shows. Empty sends no notification."},
		{"approvals.tell.accountId", "Notification account", "", "", "The channel's account that sends the notification. Empty uses its only account."},
		{"approvals.tell.to", "Your address", "", "", "Your address on that channel."},
	}},
	{"Tool rules", []setting{
		{"toolApproval.defaultDecision", "Default decision", "", "", "What happens to a call with an effect if no rule matches."},
		{"toolApproval.rules", "Rules as JSON", "", "", "Rules in the form of GSV: each decides calls by tool and arguments. Deny takes precedence over ask, and ask over allow."},
	}},
	{"Chats", []setting{
		{"session.mainKey", "Key of the main chat", "", "", "The last part of the main chat's key."},
		{"session.dmScope", "Direct messages", "", "", "Which direct messages share a chat: all, those of one person, or those of one person on one channel or account."},
		{"session.identityLinks.*", "Addresses of a person", "", "", "The addresses of one person on different channels, so that they share one chat."},
		{"session.defaultResetPolicy.mode", "Automatic reset", "", "", "When a chat starts a new conversation by itself: never, every day, or after a period without messages."},
		{"session.defaultResetPolicy.atHour", "Hour of the daily reset", "o'clock", "", "The hour of the daily reset, in your time zone."},
		{"session.defaultResetPolicy.idleMinutes", "Idle time before a reset", "minutes", "", "How long a chat must be without messages before it is reset."},
	}},
	{"General", []setting{
		{"userTimezone", "Time zone", "", protocol.FormatTimeZone, "Your time zone, for schedules and for the date that the agent knows."},
	}},
	{"Windows", []setting{
		{"ui.theme", "Theme", "", "", "Light or dark windows, or the system's theme."},
		{"ui.textSize", "Text size", "times normal", "", "Size of the text in windows; 1 is normal."},
		{"ui.firstRunDone", "First start completed", "", "", "Whether the questions of the first start were answered."},
	}},
	{"Network", []setting{
		{"network.enabled", "Allow other machines", "", "", "Whether paired machines can connect to this gateway, encrypted."},
		{"network.listen", "Listen address", "", "", "The address for other machines, as host:port. An empty host means every network of this computer."},
		{"network.discovery", "Announce on the local network", "", "", "Whether this computer announces itself on the local network while other machines can connect."},
	}},
	{"Agents and heartbeat", []setting{
		{"agents.list", "Additional agents", "", "", "Agents besides the main one, each with its own workspace."},
		{"agents.bindings", "Agents by channel", "", "", "Which agent answers on which channel, account or to which person."},
		{"agents.defaultHeartbeat.every", "Heartbeat interval", "", protocol.FormatDuration, "How often an agent checks by itself whether there is something to do, such as \"30m\". \"0m\" means never."},
		{"agents.defaultHeartbeat.prompt", "Heartbeat prompt", "", protocol.FormatLines, "The prompt of the heartbeat, instead of the default."},
		{"agents.defaultHeartbeat.target", "Heartbeat reports", "", "", "Where the agent reports: \"last\" is where you wrote last, \"none\" is nowhere, or the name of a channel."},
		{"agents.defaultHeartbeat.activeHours.start", "Heartbeat starts at", "", "", "Start of the active hours, as HH:MM."},
		{"agents.defaultHeartbeat.activeHours.end", "Heartbeat ends at", "", "", "End of the active hours, as HH:MM."},
		{"agents.defaultHeartbeat.activeHours.timezone", "Heartbeat time zone", "", protocol.FormatTimeZone, "Time zone of the active hours. Empty uses yours."},
	}},
	{"Compaction", []setting{
		{"compaction.enabled", "Compact long chats", "", "", "Whether a chat is shortened for the model before it exceeds the context window. Its full history stays."},
		{"compaction.reserveTokens", "Reserved for the answer", "tokens", "", "How many tokens stay free for the answer."},
		{"compaction.keepRecentTokens", "Recent messages", "tokens", "", "How many tokens of the newest messages remain unchanged."},
		{"compaction.extractMemories", "Extract memories", "", "", "Whether the agent writes what is worth remembering to its memory before a chat is shortened."},
	}},
	{"Schedules", []setting{
		{"cron.enabled", "Run schedules", "", "", "Whether schedules run."},
		{"cron.maxJobs", "Maximum number of schedules", "schedules", "", "How many schedules there may be."},
		{"cron.maxRunsPerJobHistory", "Runs in the history", "runs", "", "How many past runs of a schedule are retained."},
		{"cron.maxConcurrentRuns", "Concurrent runs", "runs", "", "How many schedules may run at the same time."},
	}},
	{"Channels", []setting{
		{"channels.*.dmPolicy", "Who can write", "", "", "Who can write to the agent: everyone, the allowed senders, or the senders that you have paired."},
		{"channels.*.allowFrom", "Allowed senders", "", "", "The senders who can write to the agent."},
		{"channels.*.owners", "Your addresses", "", "", "Your own addresses on the channel. From them, /new, /model and other commands work in direct messages."},
	}},
	{"Skills", []setting{
		{"skills.entries.*.enabled", "Enabled", "", "", "Whether agents can use the skill."},
		{"skills.entries.*.always", "Always included", "", "", "Whether the skill's text is always part of the system prompt."},
		{"skills.entries.*.requires.capabilities", "Required capabilities", "", "", "The capabilities that a machine must have for the skill, instead of those that the skill names."},
	}},
	{"Speech to text", []setting{
		{"transcription.provider", "Service", "", "", "The service that transcribes speech."},
		{"transcription.baseUrl", "Server address", "", protocol.FormatURL, "The address of a server with an OpenAI-compatible transcription API."},
		{"transcription.model", "Model", "", "", "The transcription model."},
	}},
}

// describe returns the entry of a path for the settings window, without its type and limits.
func describe(path string) protocol.ConfigField {
	for _, g := range groups {
		for _, s := range g.settings {
			if s.path == path {
				return protocol.ConfigField{Path: path, Title: s.title, Group: g.title, Unit: s.unit, Format: s.format, Description: s.description}
			}
		}
	}
	return protocol.ConfigField{Path: path}
}
