package seeds

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// readKubeconfig returns the configuration of the current context of a kubeconfig. Its author may have fewer permissions than the process, so it must
// not contain exec plugins or file paths, nor disable the verification of certificates. Errors say what to change, without quoting the content.
func readKubeconfig(content []byte) (*rest.Config, error) {
	if len(content) == 0 {
		return nil, errors.New("it is missing or empty")
	}
	parsed, err := clientcmd.Load(content)
	if err != nil {
		// The parser's error may quote the content.
		return nil, errors.New("it is no kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config")
	}
	context, ok := parsed.Contexts[parsed.CurrentContext]
	if !ok {
		return nil, errors.New("it has no current-context, or none of that name in contexts")
	}
	cluster, ok := parsed.Clusters[context.Cluster]
	if !ok {
		return nil, fmt.Errorf("its current context refers to cluster %q, which is not there", context.Cluster)
	}
	user, ok := parsed.AuthInfos[context.AuthInfo]
	if !ok {
		return nil, fmt.Errorf("its current context refers to user %q, which is not there", context.AuthInfo)
	}
	if err := checkCluster(cluster); err != nil {
		return nil, fmt.Errorf("its cluster %q %w", context.Cluster, err)
	}
	if err := checkUser(user); err != nil {
		return nil, fmt.Errorf("its user %q %w", context.AuthInfo, err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*parsed, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("it cannot be used: %w", err)
	}
	if _, err := rest.TLSConfigFor(config); err != nil {
		return nil, fmt.Errorf("its certificates cannot be used: %w", err)
	}
	return config, nil
}

func checkCluster(cluster *clientcmdapi.Cluster) error {
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Scheme != "https" || server.Host == "" {
		return errors.New("has no server of the form https://host:port")
	}
	if cluster.InsecureSkipTLSVerify {
		return errors.New("sets insecure-skip-tls-verify, which would give the credentials to anybody who answers: " +
			"put the certificate to trust into certificate-authority-data instead")
	}
	if cluster.CertificateAuthority != "" {
		return inFile("certificate-authority", "certificate-authority-data")
	}
	if cluster.ProxyURL != "" {
		proxy, err := url.Parse(cluster.ProxyURL)
		if err != nil || proxy.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
			return errors.New("has a proxy-url that is no URL with http, https or socks5")
		}
	}
	return nil
}

func checkUser(user *clientcmdapi.AuthInfo) error {
	hasCertificate := len(user.ClientCertificateData) > 0 && len(user.ClientKeyData) > 0
	switch {
	case user.Exec != nil:
		return errors.New("logs in by a program (exec), and none is run here: give it a token or a client certificate")
	case user.AuthProvider != nil:
		return errors.New("logs in by an auth-provider, and none is used here: give it a token or a client certificate")
	case user.TokenFile != "":
		return inFile("tokenFile", "token")
	case user.ClientCertificate != "":
		return inFile("client-certificate", "client-certificate-data")
	case user.ClientKey != "":
		return inFile("client-key", "client-key-data")
	case user.Token == "" && user.Username == "" && !hasCertificate:
		return errors.New("has no credentials: give it a token, or client-certificate-data and client-key-data")
	}
	return nil
}

func inFile(field, instead string) error {
	return fmt.Errorf("refers to a file (%s), and none is read here: put what is in it into %s", field, instead)
}
