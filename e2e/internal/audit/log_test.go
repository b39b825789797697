package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutProgress(t *testing.T) {
	operationPatch := Write{Resource: "networks", Body: json.RawMessage(`{"metadata":{"annotations":{"gardener.cloud/operation":null}}}`)}
	secret := Write{Resource: "secrets", Body: json.RawMessage(`{"data":{"one":"dHdv"}}`)}
	status := func(body string) Write { return Write{Resource: "networks/status", Body: json.RawMessage(body)} }
	first := status(`{"status":{"lastOperation":{"state":"Processing","progress":10}}}`)
	second := status(`{"status":{"lastOperation":{"progress":50,"lastUpdateTime":"2026-01-02T03:04:05Z"}}}`)
	ended := status(`{"status":{"lastOperation":{"state":"Succeeded","progress":100}}}`)
	quick := status(`{"status":{"lastOperation":{"lastUpdateTime":"2026-01-02T03:04:05Z"}}}`)
	tests := map[string]struct{ writes, want []Write }{
		"a quick pass":                      {[]Write{operationPatch, quick}, []Write{operationPatch, quick}},
		"a quick pass that writes twice":    {[]Write{operationPatch, quick, quick}, []Write{operationPatch, quick, quick}},
		"a slow pass":                       {[]Write{operationPatch, first, second, ended}, []Write{operationPatch, ended}},
		"a slow pass that changes a Secret": {[]Write{operationPatch, first, secret, ended}, []Write{operationPatch, secret, ended}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, WithoutProgress(test.writes))
		})
	}
}

func TestLog_PermanentlyForbidden(t *testing.T) {
	const user = "system:serviceaccount:kube-system:one"
	line := func(who, verb, resource, name string, code int) string {
		return fmt.Sprintf(`{"verb":%q,"user":{"username":%q},"objectRef":{"resource":%q,"name":%q,"namespace":"a"},"responseStatus":{"code":%d}}`,
			verb, who, resource, name, code)
	}
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"refused and never granted": {[]string{line(user, "get", "pods", "x", 403)}, []string{"get pods a"}},
		"refused again and again":   {[]string{line(user, "get", "pods", "x", 403), line(user, "get", "pods", "x", 403)}, []string{"get pods a"}},
		"granted later":             {[]string{line(user, "get", "pods", "x", 403), line(user, "get", "pods", "y", 200)}, nil},
		"a list granted later, told by the watch that follows": {
			[]string{line(user, "list", "pods", "", 403), line(user, "watch", "pods", "", 200)}, nil,
		},
		"granted for another verb":       {[]string{line(user, "get", "pods", "x", 403), line(user, "list", "pods", "", 200)}, []string{"get pods a"}},
		"granted to another user":        {[]string{line(user, "get", "pods", "x", 403), line("two", "get", "pods", "x", 200)}, []string{"get pods a"}},
		"granted first and refused then": {[]string{line(user, "get", "pods", "x", 200), line(user, "get", "pods", "x", 403)}, []string{"get pods a"}},
		"a line still being written":     {[]string{line(user, "get", "pods", "x", 200), `{"verb":"get","us`}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			content := strings.Join(test.lines, "\n")
			if !strings.HasSuffix(name, "being written") {
				content += "\n"
			}
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			refused, err := Log(path).PermanentlyForbidden(user)
			require.NoError(t, err)
			assert.ElementsMatch(t, test.want, refused)
		})
	}
}

func TestLog_ForbiddenInTerminatedNamespace(t *testing.T) {
	const user = "system:serviceaccount:kube-system:one"
	refused := func(resource, causes string) string {
		return fmt.Sprintf(`{"verb":"create","user":{"username":%q},"objectRef":{"resource":%q,"namespace":"a"},"responseStatus":{"code":403,"details":{"causes":%s}}}`,
			user, resource, causes) + "\n"
	}
	path := filepath.Join(t.TempDir(), "audit.log")
	lines := refused("events", `[{"reason":"NamespaceTerminating","message":"namespace a is being terminated","field":"metadata.namespace"}]`) + refused("pods", "[]")
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))

	forbidden, err := Log(path).Forbidden(user)
	require.NoError(t, err)
	assert.Equal(t, []string{"create pods a/"}, forbidden)
	permanently, err := Log(path).PermanentlyForbidden(user)
	require.NoError(t, err)
	assert.Equal(t, []string{"create pods a"}, permanently)
}
