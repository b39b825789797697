package upstreamtests

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	results, err := decode([]byte(`[{"SpecReports": [
		{"LeafNodeType": "SynchronizedBeforeSuite", "State": "passed"},
		{"ContainerHierarchyTexts": ["[sig-network] Netpol", "with a server"], "LeafNodeType": "It", "LeafNodeText": "should deny", "State": "passed", "RunTime": 1500000000},
		{"ContainerHierarchyTexts": ["[sig-network] Netpol"], "LeafNodeType": "It", "LeafNodeText": "should allow", "State": "failed", "Failure": {"Message": "not allowed"}},
		{"ContainerHierarchyTexts": ["[sig-network] Netpol"], "LeafNodeType": "It", "LeafNodeText": "needs a cloud", "State": "skipped", "Failure": {"Message": "only on one"}},
		{"ContainerHierarchyTexts": ["[sig-apps] Jobs"], "LeafNodeType": "It", "LeafNodeText": "is not selected", "State": "skipped"},
		{"LeafNodeType": "AfterSuite", "State": "panicked", "Failure": {"Message": "nil"}}
	]}]`))
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff([]Result{
		{Name: "AfterSuite", Failure: "panicked: nil"},
		{Name: "[sig-network] Netpol needs a cloud", Failure: "skipped: only on one"},
		{Name: "[sig-network] Netpol should allow", Failure: "failed: not allowed"},
		{Name: "[sig-network] Netpol with a server should deny", Passed: true, Duration: 1500 * time.Millisecond},
	}, results))

	var out bytes.Buffer
	Print(&out, results[2:])
	assert.Equal(t, "FAILED    0.0 s  [sig-network] Netpol should allow\npassed    1.5 s  [sig-network] Netpol with a server should deny\n", out.String())

	_, err = decode([]byte(`{}`))
	assert.Error(t, err)
}
