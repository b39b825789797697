package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCursor(t *testing.T) {
	log := Log(filepath.Join(t.TempDir(), "audit.log"))
	add := func(text string) {
		file, err := os.OpenFile(string(log), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	const (
		patch = `{"verb":"patch","user":{"username":"worker-controller"},"objectRef":{"resource":"workers","subresource":"status"}}` + "\n"
		get   = `{"verb":"get","user":{"username":"worker-controller"},"objectRef":{"resource":"secrets"}}` + "\n"
		ofPod = `{"verb":"get","user":{"username":"system:serviceaccount:a:b"},"objectRef":{"resource":"secrets"}}` + "\n"
		none  = `{"verb":"get","requestURI":"/api","user":{"username":"worker-controller"}}` + "\n"
	)
	counts, err := log.Cursor().Next()
	require.NoError(t, err, "there is no log before the first request")
	assert.Empty(t, counts)

	add(get)
	cursor := log.Cursor()
	add(patch + patch + ofPod + none + get[:20])
	counts, err = cursor.Next()
	require.NoError(t, err)
	written := Count{User: "worker-controller", Verb: "patch", Resource: "workers/status"}
	read := Count{User: "worker-controller", Verb: "get", Resource: "secrets"}
	assert.Equal(t, Counts{written: 2}, counts, "what was there before, requests of pods and those without an object do not count")

	add(get[20:] + patch)
	counts, err = cursor.Next()
	require.NoError(t, err)
	assert.Equal(t, Counts{read: 1, written: 1}, counts, "a line that was incomplete")
	assert.Equal(t, 1, counts.Where(Count.IsWrite))
	assert.Equal(t, map[string]int{"get": 1, "patch": 1}, counts.By(func(c Count) string { return c.Verb }))

	counts, err = cursor.Next()
	require.NoError(t, err)
	assert.Empty(t, counts)
	add("{\n")
	_, err = cursor.Next()
	assert.ErrorContains(t, err, "decoding the audit log")

	require.NoError(t, os.Truncate(string(log), 10))
	_, err = cursor.Next()
	assert.ErrorContains(t, err, "it was rotated", "requests would be missing")
}

func TestCursor_Forbidden(t *testing.T) {
	log := Log(filepath.Join(t.TempDir(), "audit.log"))
	write := func(text string) { require.NoError(t, os.WriteFile(string(log), []byte(text), 0o600)) }
	line := func(user, verb string, code int) string {
		return fmt.Sprintf(`{"verb":%q,"user":{"username":%q},"objectRef":{"resource":"pods","namespace":"a","name":"b"},"responseStatus":{"code":%d}}`+"\n", verb, user, code)
	}
	isOurs := func(user string) bool { return user == "ours" }
	cursor := log.Cursor()
	first := "I1129 10:00:00.000000       1 a line of the server's log\n" + line("ours", "get", 403) + line("ours", "get", 403) + line("theirs", "get", 403) + line("ours", "list", 200)
	second := line("ours", "delete", 403)
	write(first + second[:20])
	refused, err := cursor.Forbidden(isOurs)
	require.NoError(t, err)
	assert.Equal(t, []string{"ours: get pods a/b"}, refused)
	write(first + second)
	refused, err = cursor.Forbidden(isOurs)
	require.NoError(t, err)
	assert.Equal(t, []string{"ours: delete pods a/b"}, refused)
	write(first)
	_, err = cursor.Forbidden(isOurs)
	require.ErrorContains(t, err, "rotated")
}
