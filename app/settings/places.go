package settings

import "fairlead/app/host"

// Titles of pages.
const (
	generalTitle       = "General"
	ModelsTitle        = "Models"
	NotificationsTitle = "Notifications"
	computerTitle      = "This computer"
	gatewaysTitle      = "Gateways"
	helpTitle          = "Help"
	AboutTitle         = "About"
	allSettingsTitle   = "All settings"
)

// OwnTitles are the titles of the pages of this package.
var OwnTitles = []string{generalTitle, ModelsTitle, NotificationsTitle, computerTitle, gatewaysTitle, helpTitle, AboutTitle, allSettingsTitle}

// pageWords describe pages for the search, with words that a person may look for.
var pageWords = map[string]string{
	generalTitle:          "Appearance and start",
	ModelsTitle:           "Providers, keys, the default model and its thinking",
	NotificationsTitle:    "What is announced, sound and quiet hours",
	computerTitle:         "What the agent may access here",
	"Approvals and rules": "What is allowed without a question, trust and approval modes",
	"Tools":               "MCP servers and their tools",
	"Skills":              "Ways of working that the agent follows",
	"Channels":            "Messengers, and people who may write to the agent",
	"Connected apps":      "Programs that use your machines, and their tokens",
	"Published apps":      "Addresses for apps of your machines, and their visitors",
	string(host.Exposure): "Everything that is open, public or allowed, and how to close it",
	gatewaysTitle:         "Other computers with Fairlead, pairing, address and token",
	helpTitle:             "Problems, logs and keyboard shortcuts",
	AboutTitle:            "Version, what is new and licences",
	allSettingsTitle:      "Every setting of the gateway",
}

// section is a section of a page, for the search.
type section struct {
	title, about string
	local        bool // only where the gateway is that of this computer
}

// Titles of sections.
const (
	shortcutsSection = "Keyboard shortcuts"
	logsSection      = "Logs"
	newsSection      = "What's new"
)

// sections are the sections of pages.
var sections = map[string][]section{
	generalTitle: {
		{"Theme", "Light, dark, or as in the system", false},
		{"Text size", "The size of text in all windows", false},
		{"When Fairlead opens", "Open the window, or stay in the tray", true},
		{"Start at login", "Start Fairlead with this computer", true},
	},
	NotificationsTitle: {
		{"Notify me about", "Questions, answers, transfers, schedules, devices and messages", false},
		{"Sound and test", "The system's sound, and a test notification", false},
		{"Quiet hours", "Fewer notifications at certain times", false},
	},
	computerTitle: {
		{"Workspace folder", "The folder in which the agent works", true},
		{"Allowed folders", "Folders outside the workspace that the agent may use", true},
		{"File access", "What the agent's tools may open, read and change", true},
		{"What commands may change", "The sandbox of commands", true},
		{"Network access for commands", "Whether commands may use the network", true},
		{"Enforced on this computer", "The restrictions that this computer can enforce", true},
	},
	gatewaysTitle: {
		{"This gateway", "The address for programs", false},
		{"Token", "The secret with which programs connect", true},
		{"Listen address", "The address and port of the gateway", true},
		{"Other gateways", "Computers that you control, or that use this one", true},
		{"Add a gateway", "Pair with another computer by a link or a code", true},
	},
	helpTitle: {
		{"Check for problems", "Data folder, keychain, gateway, machines and model", false},
		{logsSection, "The folder of log files", true},
		{shortcutsSection, "The keys of all windows", false},
	},
	AboutTitle: {
		{"Version", "The version of Fairlead, and where its data is", false},
		{newsSection, "The changes in this version", false},
		{"Licences", "The open-source libraries in Fairlead", false},
	},
}

// ownPlace are the settings that have a section of their own, by path.
var ownPlace = map[string]bool{"ui.theme": true, "ui.textSize": true}
