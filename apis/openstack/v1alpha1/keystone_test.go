package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func TestCloudProfileConfig_Keystone(t *testing.T) {
	listed := []v1alpha1.KeyStoneURL{{Region: "one", URL: "https://one", CACert: new("one's")}, {Region: "two", URL: "https://two"}, {Region: "empty"}}
	for sentence, test := range map[string]struct {
		config      v1alpha1.CloudProfileConfig
		region, url string // no url: an error
	}{
		"a URL for all regions":                          {v1alpha1.CloudProfileConfig{KeyStoneURL: "https://all"}, "one", "https://all"},
		"a listed region has its own URL":                {v1alpha1.CloudProfileConfig{KeyStoneURL: "https://all", KeyStoneURLs: listed}, "one", "https://one"},
		"a region that is not listed has the URL of all": {v1alpha1.CloudProfileConfig{KeyStoneURL: "https://all", KeyStoneURLs: listed}, "three", "https://all"},
		"a region that is not listed, and no URL of all": {v1alpha1.CloudProfileConfig{KeyStoneURLs: listed}, "three", ""},
		"a listed region without a URL":                  {v1alpha1.CloudProfileConfig{KeyStoneURL: "https://all", KeyStoneURLs: listed}, "empty", ""},
		"no URL at all":                                  {v1alpha1.CloudProfileConfig{}, "one", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			keystone, err := test.config.Keystone(test.region)
			if test.url == "" {
				require.ErrorContains(t, err, `no URL of Keystone for region "`+test.region+`"`)
				assert.Empty(t, keystone)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.url, keystone.URL)
		})
	}
}

func TestDecodeKeystone(t *testing.T) {
	const header = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",`
	for sentence, test := range map[string]struct{ document, url, wantText string }{
		"only Keystone is decoded":               {header + `"keystoneURL":"https://all","dnsServers":["1.1.1.1"]}`, "https://all", ""},
		"other fields may be damaged":            {header + `"keystoneURL":"https://all","machineImages":"none"}`, "https://all", ""},
		"a field of another spelling is another": {header + `"keyStoneURL":"https://all"}`, "", ""},
		"a damaged Keystone":                     {header + `"keystoneURL":5}`, "", "keystoneURL must be a string"},
		"a document of another kind":             {`{"kind":"Other","apiVersion":"v1","keystoneURL":"https://all"}`, "", "set apiVersion to"},
		"a document that is no object":           {`"https://all"`, "", "not a JSON object with apiVersion and kind, but a JSON string"},
		"no document":                            {``, "", "set apiVersion to"},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeKeystone(&runtime.RawExtension{Raw: []byte(test.document)})
			if test.wantText != "" {
				require.ErrorContains(t, err, test.wantText)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.url, config.KeyStoneURL)
			assert.Empty(t, config.DNSServers)
		})
	}
}
