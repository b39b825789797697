package seeds

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestReadKubeconfig_Invalid(t *testing.T) {
	type parts struct {
		config  *clientcmdapi.Config
		cluster *clientcmdapi.Cluster
		user    *clientcmdapi.AuthInfo
	}
	for sentence, c := range map[string]struct {
		change func(parts)
		want   string
	}{
		"a program that logs in": {
			func(p parts) {
				p.user.Exec = &clientcmdapi.ExecConfig{Command: "sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}
			},
			`its user "u" logs in by a program (exec), and none is run here: give it a token or a client certificate`,
		},
		"an auth-provider": {
			func(p parts) { p.user.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} },
			`its user "u" logs in by an auth-provider, and none is used here: give it a token or a client certificate`,
		},
		"a token in a file": {
			func(p parts) { p.user.TokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token" },
			`its user "u" refers to a file (tokenFile), and none is read here: put what is in it into token`,
		},
		"a client certificate in a file": {
			func(p parts) { p.user.ClientCertificate = "/c" },
			`its user "u" refers to a file (client-certificate), and none is read here: put what is in it into client-certificate-data`,
		},
		"a client key in a file": {
			func(p parts) { p.user.ClientKey = "/k" },
			`its user "u" refers to a file (client-key), and none is read here: put what is in it into client-key-data`,
		},
		"authorities in a file": {
			func(p parts) { p.cluster.CertificateAuthority = "/ca" },
			`its cluster "c" refers to a file (certificate-authority), and none is read here: put what is in it into certificate-authority-data`,
		},
		"any certificate trusted": {
			func(p parts) { p.cluster.InsecureSkipTLSVerify = true },
			`its cluster "c" sets insecure-skip-tls-verify, which would give the credentials to anybody who answers: ` +
				`put the certificate to trust into certificate-authority-data instead`,
		},
		"credentials in the clear": {
			func(p parts) { p.cluster.Server = "http://seed.example.com" },
			`its cluster "c" has no server of the form https://host:port`,
		},
		"no server": {
			func(p parts) { p.cluster.Server = "" },
			`its cluster "c" has no server of the form https://host:port`,
		},
		"a proxy that is none": {
			func(p parts) { p.cluster.ProxyURL = "ftp://me:secret@proxy" },
			`its cluster "c" has a proxy-url that is no URL with http, https or socks5`,
		},
		"authorities that are no certificates": {
			func(p parts) { p.cluster.CertificateAuthorityData = []byte("secret") },
			"its certificates cannot be used: unable to load root certificates: unable to parse bytes as PEM block",
		},
		"no credentials": {
			func(p parts) { p.user.Token = "" },
			`its user "u" has no credentials: give it a token, or client-certificate-data and client-key-data`,
		},
		"a certificate without its key": {
			func(p parts) { p.user.Token, p.user.ClientCertificateData = "", []byte("c") },
			`its user "u" has no credentials: give it a token, or client-certificate-data and client-key-data`,
		},
		"no current context": {
			func(p parts) { p.config.CurrentContext = "" },
			"it has no current-context, or none of that name in contexts",
		},
		"a current context that is not there": {
			func(p parts) { p.config.CurrentContext = "other" },
			"it has no current-context, or none of that name in contexts",
		},
		"a cluster that is not there": {
			func(p parts) { delete(p.config.Clusters, "c") },
			`its current context refers to cluster "c", which is not there`,
		},
		"a user that is not there": {
			func(p parts) { delete(p.config.AuthInfos, "u") },
			`its current context refers to user "u", which is not there`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := parts{clientcmdapi.NewConfig(), &clientcmdapi.Cluster{Server: "https://seed.example.com"}, &clientcmdapi.AuthInfo{Token: "secret"}}
			p.config.Clusters["c"], p.config.AuthInfos["u"] = p.cluster, p.user
			p.config.Contexts["x"], p.config.CurrentContext = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}, "x"
			_, err := readKubeconfig(encodeKubeconfig(t, p.config))
			require.NoError(t, err, "before the change")

			c.change(p)
			_, err = readKubeconfig(encodeKubeconfig(t, p.config))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestReadKubeconfig_ErrorsQuoteNoContent(t *testing.T) {
	for sentence, c := range map[string]struct{ content, want string }{
		"nothing":    {"", "it is missing or empty"},
		"a password": {"secret", "it is no kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config"},
		"wrong types": {
			"apiVersion: v1\nkind: Config\nusers: {secret: [secret]}", "it is no kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config",
		},
		"another kind": {"apiVersion: v1\nkind: Secret\n", "it is no kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config"},
		"another YAML": {"a: b", "it has no current-context, or none of that name in contexts"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := readKubeconfig([]byte(c.content))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestReadKubeconfig(t *testing.T) {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://seed.example.com/prefix", TLSServerName: "api", ProxyURL: "http://proxy:3128"}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{
		Token: "secret", Impersonate: "somebody", ImpersonateGroups: []string{"some"}, ImpersonateUID: "1",
	}
	config.AuthInfos["unused"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "sh", InteractiveMode: "Never"}}
	config.Contexts["x"], config.CurrentContext = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}, "x"

	got, err := readKubeconfig(encodeKubeconfig(t, config))

	require.NoError(t, err)
	assert.Equal(t, "https://seed.example.com/prefix", got.Host)
	assert.Equal(t, "secret", got.BearerToken)
	assert.Equal(t, "somebody", got.Impersonate.UserName)
	assert.Equal(t, []string{"some"}, got.Impersonate.Groups)
	assert.Equal(t, "1", got.Impersonate.UID)
	assert.Nil(t, got.ExecProvider)
}

func encodeKubeconfig(t *testing.T, config *clientcmdapi.Config) []byte {
	t.Helper()
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}
