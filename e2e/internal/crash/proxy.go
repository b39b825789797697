package crash

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// Proxy is an API server from the view of a process. All requests are made with the identity that the proxy was started for.
type Proxy struct {
	name         string
	injector     *Injector
	kubeconfig   []byte
	server       *http.Server
	reverseProxy *httputil.ReverseProxy
}

// Keys of a request's context.
type (
	runKey  struct{} // the life that its connection belongs to
	lastKey struct{} // there, when it is the last one of that life
)

// Proxy starts a proxy for the API server of config. The name is for messages.
func (t *Injector) Proxy(name string, config *rest.Config) (*Proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the address of %s: %w", name, err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the way to %s: %w", name, err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for the front of %s: %w", name, err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate for the front of %s: %w", name, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the front of %s: %w", name, err)
	}
	f := &Proxy{name: name, injector: t}
	if f.kubeconfig, err = kubeconfig("https://"+listener.Addr().String(), certificate); err != nil {
		return nil, err
	}
	silent := log.New(io.Discard, "", 0) // killed processes break off in the middle of things
	f.reverseProxy = &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Del("Authorization")
		},
		Transport: transport, FlushInterval: -1, ErrorLog: silent, ModifyResponse: f.handleResponse, ErrorHandler: f.handleError,
	}
	f.server = &http.Server{
		Handler:   http.HandlerFunc(f.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ErrorLog:  silent,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, runKey{}, t.currentRun())
		},
	}
	t.mutex.Lock()
	t.proxies = append(t.proxies, f)
	t.mutex.Unlock()
	go func() { _ = f.server.ServeTLS(listener, "", "") }()
	return f, nil
}

// Kubeconfig is the path of a kubeconfig for the proxy.
func (f *Proxy) Kubeconfig() []byte { return f.kubeconfig }

func (f *Proxy) serve(response http.ResponseWriter, request *http.Request) {
	run, _ := request.Context().Value(runKey{}).(*Run)
	if run != f.injector.currentRun() {
		panic(http.ErrAbortHandler) // its process is dead
	}
	switch run.decide(writeOf(f.name, request)) {
	case hold, killBefore:
		_, _ = io.Copy(io.Discard, request.Body) // or nobody would notice that the other side has gone
		f.hold(request.Context())
	case killAfter:
		f.reverseProxy.ServeHTTP(response, request.WithContext(context.WithValue(request.Context(), lastKey{}, run)))
	default:
		f.reverseProxy.ServeHTTP(response, request)
	}
}

// handleResponse is called before anything of an API server's response is forwarded.
func (f *Proxy) handleResponse(response *http.Response) error {
	if run, is := response.Request.Context().Value(lastKey{}).(*Run); is {
		_ = response.Body.Close()
		run.end()
		f.hold(response.Request.Context())
	}
	return nil
}

// handleError is called when a request fails without a response.
func (f *Proxy) handleError(response http.ResponseWriter, request *http.Request, _ error) {
	if run, is := request.Context().Value(lastKey{}).(*Run); is {
		run.end()
		f.hold(request.Context())
	}
	response.WriteHeader(http.StatusBadGateway)
}

// hold delays the response until the process is dead.
func (f *Proxy) hold(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-f.injector.closed:
	}
	panic(http.ErrAbortHandler)
}

func kubeconfig(server string, ca []byte) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["front"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["front"] = &clientcmdapi.AuthInfo{Token: "of-nobody"}
	config.Contexts["front"] = &clientcmdapi.Context{Cluster: "front", AuthInfo: "front"}
	config.CurrentContext = "front"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encoding the kubeconfig of a front: %w", err)
	}
	return content, nil
}
