package shootclient_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract/shootclient"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// maxSentPerResponse is more than what is read of one response and what the kernel buffers of it.
const maxSentPerResponse = 16 << 20

// shootServer is a kube-apiserver of a shoot with the test's responses to requests for nodes.
type shootServer struct {
	nodes http.HandlerFunc

	mutex  sync.Mutex
	limits []int
	// sent is the number of bytes written of the largest response.
	sent atomic.Int64
}

func (s *shootServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case "/api/v1":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[
			{"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["get","list"]}]}`)
	case "/api/v1/nodes":
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		s.mutex.Lock()
		s.limits = append(s.limits, limit)
		s.mutex.Unlock()
		counted := &countingWriter{ResponseWriter: w}
		s.nodes(counted, r)
		for before := s.sent.Load(); counted.count > before && !s.sent.CompareAndSwap(before, counted.count); before = s.sent.Load() {
		}
	default:
		http.NotFound(w, r)
	}
}

type countingWriter struct {
	http.ResponseWriter
	count int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	written, err := w.ResponseWriter.Write(p)
	w.count += int64(written)
	return written, err
}

// newClient returns a client of the server as controllers create it.
func (s *shootServer) newClient(t *testing.T) client.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	kubeconfig := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: shoot, contexts: [{name: shoot, context: {cluster: shoot, user: us}}],
		clusters: [{name: shoot, cluster: {server: %q}}], users: [{name: us, user: {token: t}}]}`, server.URL)
	seed := fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1beta1constants.SecretNameGardenerInternal},
		Data:       map[string][]byte{"kubeconfig": []byte(kubeconfig)},
	}).Build()
	shoot, err := shootclient.New(t.Context(), seed, namespace)
	require.NoError(t, err)
	return shoot
}

// largeNodes responds in pages, as a kube-apiserver does, with nodes of the maximum size.
func largeNodes(count int) http.HandlerFunc {
	notes := map[string]string{"example.org/note": strings.Repeat("a", 1_400_000)}
	return func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		list := &corev1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}}
		for n := first; n < min(first+limit, count); n++ {
			list.Items = append(list.Items, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n), Annotations: notes}})
		}
		if next := first + limit; next < count {
			list.Continue = strconv.Itoa(next)
		}
		_ = json.NewEncoder(w).Encode(list)
	}
}

func TestEachNode_LargeNodes(t *testing.T) {
	server := &shootServer{nodes: largeNodes(7)}
	var names []string
	require.NoError(t, shootclient.EachNode(t.Context(), server.newClient(t), func(node *corev1.Node) error {
		names = append(names, node.Name)
		return nil
	}))
	assert.Equal(t, []string{"node-0", "node-1", "node-2", "node-3", "node-4", "node-5", "node-6"}, names, "each once, in order")
	assert.Equal(t, []int{50, 25, 12, 6, 3, 1, 1, 1, 1, 1, 1, 1}, server.limits, "pages shrink until one fits")
}

func TestEachNode_InvalidResponses(t *testing.T) {
	endless := func(w io.Writer) {
		_, err := io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"`)
		for chunk := strings.Repeat("a", 64<<10); err == nil; {
			_, err = io.WriteString(w, chunk)
		}
	}
	for sentence, tt := range map[string]struct {
		nodes http.HandlerFunc
		want  string
	}{
		"an answer without end": {
			nodes: func(w http.ResponseWriter, _ *http.Request) { endless(w) }, want: "the answer is too large: more than 4194304 bytes",
		},
		"a small answer that decompresses without end": {
			nodes: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				endless(gzip.NewWriter(w))
			}, want: "the answer is too large: more than 4194304 bytes",
		},
		"the same page again and again": {
			nodes: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"here"},"items":[{"metadata":{"name":"one"}}]}`)
			}, want: "answers with the same page again",
		},
		"a refusal with more words than anybody reads": {
			nodes: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q}`, strings.Repeat("no ", 1<<20))
			}, want: "the answer is too large: more than 65536 bytes",
		},
		"a refusal with many words": {
			nodes: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":%q}`, strings.Repeat("no access, ", 4<<10))
			}, want: "listing the shoot's nodes: no access, no access",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			server := &shootServer{nodes: tt.nodes}
			err := shootclient.EachNode(t.Context(), server.newClient(t), func(*corev1.Node) error { return nil })
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "it may pass")
			assert.Less(t, len(err.Error()), truncate.MaxExternal+100)
			assert.Less(t, server.sent.Load(), int64(maxSentPerResponse), "the rest of the answer is not read")
			assert.LessOrEqual(t, len(server.limits), 6, "it gives up")
		})
	}
}
