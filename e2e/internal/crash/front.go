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

// Front is what a process takes for an API server. Whoever asks there acts as the one whom the front was made for.
type Front struct {
	name       string
	trap       *Trap
	kubeconfig []byte
	server     *http.Server
	proxy      *httputil.ReverseProxy
}

// keys of a request's context.
type (
	lifeKey struct{} // the life that its connection belongs to
	lastKey struct{} // there, when it is the last one of that life
)

// Front starts a front for the API server of config. The name is for messages.
func (t *Trap) Front(name string, config *rest.Config) (*Front, error) {
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
	f := &Front{name: name, trap: t}
	if f.kubeconfig, err = kubeconfig("https://"+listener.Addr().String(), certificate); err != nil {
		return nil, err
	}
	silent := log.New(io.Discard, "", 0) // killed processes break off in the middle of things
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Del("Authorization")
		},
		Transport: transport, FlushInterval: -1, ErrorLog: silent, ModifyResponse: f.answered, ErrorHandler: f.failed,
	}
	f.server = &http.Server{
		Handler:   http.HandlerFunc(f.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ErrorLog:  silent,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, lifeKey{}, t.present())
		},
	}
	t.mutex.Lock()
	t.fronts = append(t.fronts, f)
	t.mutex.Unlock()
	go func() { _ = f.server.ServeTLS(listener, "", "") }()
	return f, nil
}

// Kubeconfig leads to the front.
func (f *Front) Kubeconfig() []byte { return f.kubeconfig }

func (f *Front) serve(response http.ResponseWriter, request *http.Request) {
	life, _ := request.Context().Value(lifeKey{}).(*Life)
	if life != f.trap.present() {
		panic(http.ErrAbortHandler) // its process is dead
	}
	switch life.meet(writeOf(f.name, request)) {
	case hold, die:
		_, _ = io.Copy(io.Discard, request.Body) // or nobody would notice that the other side has gone
		f.hold(request.Context())
	case dieThen:
		f.proxy.ServeHTTP(response, request.WithContext(context.WithValue(request.Context(), lastKey{}, life)))
	default:
		f.proxy.ServeHTTP(response, request)
	}
}

// answered is called with what an API server has answered, before anything of it is passed on.
func (f *Front) answered(response *http.Response) error {
	if life, is := response.Request.Context().Value(lastKey{}).(*Life); is {
		_ = response.Body.Close()
		life.end()
		f.hold(response.Request.Context())
	}
	return nil
}

// failed is called when there is no answer.
func (f *Front) failed(response http.ResponseWriter, request *http.Request, _ error) {
	if life, is := request.Context().Value(lastKey{}).(*Life); is {
		life.end()
		f.hold(request.Context())
	}
	response.WriteHeader(http.StatusBadGateway)
}

// hold keeps a request without an answer until its process is dead.
func (f *Front) hold(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-f.trap.leave:
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
