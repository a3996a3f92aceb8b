package gemini

import "encoding/json"

// The parts of the Gemini API v1beta that Fairlead uses
// (https://ai.google.dev/api/generate-content). Bytes are base64 in JSON.

type request struct {
	Contents          []content                          `json:"contents"`
	SystemInstruction *content                           `json:"systemInstruction,omitempty"`
	Tools             []map[string][]functionDeclaration `json:"tools,omitempty"`
	GenerationConfig  *generationConfig                  `json:"generationConfig,omitempty"`
}

const (
	roleUser  = "user"
	roleModel = "model"
)

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts,omitempty"`
}

type part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
}

type blob struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"` // an object
}

type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"` // "output" or "error"
}

type functionDeclaration struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description,omitempty"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	ResponseModalities []string        `json:"responseModalities,omitempty"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"` // tokens
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

type response struct {
	Candidates []struct {
		Content       content
		FinishReason  string
		FinishMessage string
	}
	PromptFeedback struct{ BlockReason, BlockReasonMessage string }
	UsageMetadata  *usageMetadata
	Error          json.RawMessage
}

// usageMetadata holds token counts. Those of the prompt include cached tokens.
type usageMetadata struct {
	PromptTokenCount        int64
	ToolUsePromptTokenCount int64
	CachedContentTokenCount int64
	CandidatesTokenCount    int64
	ThoughtsTokenCount      int64
}

type modelList struct {
	Models        []listedModel
	NextPageToken string
}

type listedModel struct {
	Name                       string // "models/gemini-2.5-pro"
	DisplayName                string
	InputTokenLimit            int64
	OutputTokenLimit           int64
	SupportedGenerationMethods []string
	Thinking                   bool
}
