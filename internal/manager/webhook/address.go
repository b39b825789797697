package webhook

import (
	"fmt"
	"net"
	"net/url"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/trellis-garden/trellis/internal/manager"
)

// address is how an API server reaches the webhook server.
type address struct {
	mode string
	// location is host or host:port of mode "url".
	location string
	// service, namespace and port are used in the other modes.
	service, namespace string
	port               int
}

func addressOf(options manager.WebhookOptions) address {
	return address{
		mode:      options.Mode,
		location:  options.URL,
		service:   options.ConfigName,
		namespace: options.Namespace,
		port:      options.ServicePort,
	}
}

// clientConfig returns the client configuration for one path.
func (a address) clientConfig(path string, caBundle []byte) admissionregistrationv1.WebhookClientConfig {
	config := admissionregistrationv1.WebhookClientConfig{CABundle: caBundle}
	switch a.mode {
	case manager.WebhookModeURL:
		config.URL = new((&url.URL{Scheme: "https", Host: a.location, Path: path}).String())
	case manager.WebhookModeURLService:
		host := fmt.Sprintf("%s.%s:%d", a.service, a.namespace, a.port)
		config.URL = new((&url.URL{Scheme: "https", Host: host, Path: path}).String())
	default:
		config.Service = &admissionregistrationv1.ServiceReference{
			Namespace: a.namespace, Name: a.service, Path: &path, Port: new(int32(a.port)),
		}
	}
	return config
}

// host returns the host name that the API server connects to and verifies the certificate for.
func (a address) host() string {
	switch a.mode {
	case manager.WebhookModeURL:
		return (&url.URL{Host: a.location}).Hostname()
	case manager.WebhookModeURLService:
		return a.service + "." + a.namespace
	default:
		return a.service + "." + a.namespace + ".svc"
	}
}

// names returns the host names of the certificate. A Service has all of its names in both of its modes, so that a change between them requires no new
// certificate.
func (a address) names() (dns []string, ips []net.IP) {
	if a.mode != manager.WebhookModeURL {
		return []string{a.service, a.service + "." + a.namespace, a.service + "." + a.namespace + ".svc"}, nil
	}
	if ip := net.ParseIP(a.host()); ip != nil {
		return nil, []net.IP{ip}
	}
	return []string{a.host()}, nil
}

// addresses are the addresses of the one webhook server for the API servers of several clusters.
type addresses []address

func (a addresses) hosts() []string {
	var hosts []string
	for _, address := range a {
		if host := address.host(); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// names returns the host names of one certificate for all addresses.
func (a addresses) names() (dns []string, ips []net.IP) {
	for _, address := range a {
		names, numbers := address.names()
		for _, name := range names {
			if !slices.Contains(dns, name) {
				dns = append(dns, name)
			}
		}
		for _, number := range numbers {
			if !slices.ContainsFunc(ips, number.Equal) {
				ips = append(ips, number)
			}
		}
	}
	return dns, ips
}
