package ask

import "net/http"

// maxRedirects is the number of redirects that are followed.
const maxRedirects = 5

// SameServer is the CheckRedirect function for model servers: it follows redirects only within the
// server that the person configured, and only unchanged requests. Otherwise another server would
// get the chat, and also the key, because net/http removes only the Authorization header.
func SameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) <= maxRedirects && req.Method == first.Method && req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host {
		return nil
	}
	return http.ErrUseLastResponse
}

// redirectFailure returns the failure of a redirect response; nil for any other response.
func redirectFailure(resp *http.Response) *Failure {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	to, err := resp.Location()
	if err != nil {
		return nil
	}
	f := Permanent("the server redirects requests to " + to.Scheme + "://" + to.Host + to.Path + "; if that is the right server, give its address in Settings")
	f.Status = resp.StatusCode
	return f
}
