package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/manager"
)

// ShootRegistrations are the registrations of webhooks with kube-apiservers of shoots. Whoever deploys to shoots writes them, with the address and the CA bundle
// of a ShootServer.
type ShootRegistrations interface {
	// Trust makes all registrations contain a CA bundle, and returns those that they had before, one per registration. A renewal of the certificate waits
	// until all have contained the new authority for a while, and while there is an error. It is called every minute.
	Trust(ctx context.Context, caBundle []byte) ([][]byte, error)
}

// ShootServer is how kube-apiservers of shoots reach the webhooks of a process.
type ShootServer struct {
	// Address is a URL without a path.
	Address string
	process *manager.Process
}

// NewShootServer returns that of a process. The kube-apiservers run in the cluster of the process, so a Service is reached by its name.
func NewShootServer(p *manager.Process) *ShootServer {
	options := p.Webhooks
	host := options.ConfigName + "." + options.Namespace
	if options.Mode == manager.WebhookModeURL {
		host = addressOf(options).host()
	}
	host = net.JoinHostPort(host, strconv.Itoa(options.ShootServicePort))
	return &ShootServer{Address: (&url.URL{Scheme: "https", Host: host}).String(), process: p}
}

// CABundle returns the authorities that a kube-apiserver has to trust now.
func (s *ShootServer) CABundle(ctx context.Context) ([]byte, error) {
	keys, err := readKeyring(ctx, s.process.Manager.GetAPIReader(), secretNamesOf(s.process.Name, s.process.Webhooks.Namespace))
	if err != nil {
		return nil, err
	}
	bundle := keys.bundle(time.Now())
	if len(bundle) == 0 {
		return nil, fmt.Errorf("the webhooks of %s have no certificate authority yet", s.process.Name)
	}
	return bundle, nil
}

// ServeForShoots is Serve for a process with webhooks for shoots.
func ServeForShoots(p *manager.Process, shoots ShootRegistrations, webhooks ...Webhook) error {
	return serve(p, defaultTiming(), shoots, webhooks)
}

func isForShoots(w Webhook) bool { return w.Shoots }

// registerAll makes all registrations trust a CA bundle, and returns the authorities that all of them trusted already.
func (k *certRotator) registerAll(ctx context.Context, caBundle []byte) ([]*x509.Certificate, error) {
	trusted, err := k.registrars.register(ctx, caBundle)
	if k.shoots == nil || err != nil {
		return trusted, err
	}
	if k.registrars.isEmpty() {
		trusted = parseBundle(caBundle) // by all others, of which there are none
	}
	bundles, err := k.shoots.Trust(ctx, caBundle)
	if err != nil {
		return nil, fmt.Errorf("in shoots: %w", err)
	}
	for _, bundle := range bundles {
		inShoot := parseBundle(bundle)
		trusted = slices.DeleteFunc(trusted, func(c *x509.Certificate) bool { return !slices.ContainsFunc(inShoot, c.Equal) })
	}
	return trusted, nil
}

// neverDenying allows what a handler does not, and what it panics at, after it is counted: the failure policy Ignore only concerns a server that does not
// respond, while a denial would keep users of a shoot from writing objects because of an error of ours.
func neverDenying(handler admission.Handler) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) (response admission.Response) {
		defer func() {
			if recovered := recover(); recovered != nil {
				logf.FromContext(ctx).Error(fmt.Errorf("%v", recovered), "Allowing a request after a panic", "stack", string(debug.Stack()))
				response = admission.Allowed("")
			}
		}()
		response = handler.Handle(ctx, request)
		if response.Allowed {
			return response
		}
		reason := errors.New("without a reason")
		if response.Result != nil && response.Result.Message != "" {
			reason = errors.New(response.Result.Message)
		}
		logf.FromContext(ctx).Error(reason, "Allowing a request that would be denied")
		return admission.Allowed("")
	})
}
