package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Response is what a cloud said to one request.
type Response struct {
	c       *Case
	request string
	Status  int
	Header  http.Header
	// Body is the decoded JSON, or nil. Raw is what came.
	Body map[string]any
	Raw  []byte
}

// RequireStatus asserts the status code and returns the object in the answer: what stands under its only key, or the answer itself
// where there are several. A case ends where it does not succeed, since what follows builds on it.
func (a *Response) RequireStatus(status int) Object {
	a.c.Helper()
	require.Equalf(a.c, status, a.Status, "%s: %s", a.request, a.Raw)
	return a.object()
}

func (a *Response) object() Object {
	if len(a.Body) == 1 {
		for _, value := range a.Body {
			if inner, ok := value.(map[string]any); ok {
				return inner
			}
		}
	}
	return a.Body
}

// List returns what stands under a key of a successful answer as a list of objects.
func (a *Response) List(key string) []Object {
	a.c.Helper()
	require.Equalf(a.c, http.StatusOK, a.Status, "%s: %s", a.request, a.Raw)
	all, ok := a.Body[key].([]any)
	require.Truef(a.c, ok, "%s: no list %q in %s", a.request, key, a.Raw)
	objects := []Object{}
	for _, one := range all {
		object, ok := one.(map[string]any)
		require.Truef(a.c, ok, "%s: %q holds something else than objects: %s", a.request, key, a.Raw)
		objects = append(objects, object)
	}
	return objects
}

// AssertError asserts that the cloud says no with a status code and a type. The type is the exception's name in Neutron, the key
// around the fault in Nova and Cinder, the fault code in Octavia, the title in Keystone, and empty where there is only text.
func (a *Response) AssertError(status int, kind string) *Response {
	a.c.Helper()
	assert.Equalf(a.c, status, a.Status, "%s: %s", a.request, a.Raw)
	got, _ := a.fault()
	assert.Equalf(a.c, kind, got, "%s: %s", a.request, a.Raw)
	return a
}

// AssertMessage asserts a part of the message of an error.
func (a *Response) AssertMessage(format string, args ...any) *Response {
	a.c.Helper()
	_, message := a.fault()
	assert.Containsf(a.c, message, fmt.Sprintf(format, args...), "%s: %s", a.request, a.Raw)
	return a
}

// fault reads an error in the dialect of whichever service it comes from.
func (a *Response) fault() (kind, message string) {
	if a.Body == nil {
		return "", string(a.Raw)
	}
	if code, ok := a.Body["faultcode"].(string); ok {
		return code, text(a.Body["faultstring"])
	}
	for key, value := range a.Body {
		inner, ok := value.(map[string]any)
		switch {
		case !ok:
			continue
		case key == "NeutronError":
			return text(inner["type"]), text(inner["message"])
		case key == "error":
			return text(inner["title"]), text(inner["message"])
		default:
			return key, text(inner["message"])
		}
	}
	return "", string(a.Raw)
}

// Object is a resource as a cloud shows it.
type Object map[string]any

// ID is the attribute "id".
func (o Object) ID() string { return o.Text("id") }

// Text returns an attribute as text, and "" where it is null or missing. A path such as "gateway.network_id" leads into
// objects.
func (o Object) Text(path string) string { return text(o.At(path)) }

// At returns the attribute at a path, or nil.
func (o Object) At(path string) any {
	var at any = map[string]any(o)
	for part := range strings.SplitSeq(path, ".") {
		inner, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = inner[part]
	}
	return at
}

// Objects returns an attribute that is a list of objects.
func (o Object) Objects(path string) []Object {
	all, _ := o.At(path).([]any)
	var objects []Object
	for _, one := range all {
		if object, ok := one.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// Texts returns an attribute that is a list of texts.
func (o Object) Texts(path string) []string {
	all, _ := o.At(path).([]any)
	texts := []string{}
	for _, one := range all {
		texts = append(texts, text(one))
	}
	return texts
}

func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return fmt.Sprint(v)
	}
}
