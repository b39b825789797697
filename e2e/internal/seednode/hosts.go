package seednode

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// names are the names of Services and of endpoints of Services without an address.
type names struct {
	entries []nameEntry
	text    string // for who is in no namespace
}

// nameEntry is an address with a name in a namespace.
type nameEntry struct {
	address, name, namespace string
}

const clusterDomain = "svc.cluster.local"

// names returns the names of all Services. External names may be in a text in the format of /etc/hosts.
func (v *serviceView) names(hosts string) *names {
	n := &names{}
	for i := range v.services {
		service := &v.services[i]
		switch {
		case hasClusterIP(service):
			n.add(service.Spec.ClusterIP, service.Name, service.Namespace)
		case service.Spec.ClusterIP == corev1.ClusterIPNone:
			v.endpoints(service, func(_ *discoveryv1.EndpointSlice, endpoint *discoveryv1.Endpoint) {
				for _, address := range endpoint.Addresses {
					n.add(address, service.Name, service.Namespace)
					if endpoint.Hostname != nil {
						n.add(address, *endpoint.Hostname+"."+service.Name, service.Namespace)
					}
				}
			})
		}
	}
	for i := range v.services {
		if service := &v.services[i]; service.Spec.Type == corev1.ServiceTypeExternalName {
			for _, address := range n.resolve(service.Spec.ExternalName, hosts) {
				n.add(address, service.Name, service.Namespace)
			}
		}
	}
	slices.SortFunc(n.entries, func(a, b nameEntry) int {
		return strings.Compare(a.namespace+"/"+a.name+"/"+a.address, b.namespace+"/"+b.name+"/"+b.address)
	})
	n.text = n.in("")
	return n
}

func (n *names) add(address, name, namespace string) {
	n.entries = append(n.entries, nameEntry{address: address, name: name, namespace: namespace})
}

// resolve returns the addresses of an external name: it is an address, the name of another Service, or in a text in the format of /etc/hosts.
func (n *names) resolve(name, hosts string) []string {
	if _, err := netip.ParseAddr(name); err == nil {
		return []string{name}
	}
	name = strings.TrimSuffix(name, ".")
	var found []string
	for _, entry := range n.entries {
		if slices.Contains(entry.names(""), name) {
			found = append(found, entry.address)
		}
	}
	for line := range strings.Lines(hosts) {
		if fields := strings.Fields(line); len(fields) > 1 && slices.Contains(fields[1:], name) {
			found = append(found, fields[0])
		}
	}
	return found
}

// names are those under which the entry is known in a namespace.
func (e nameEntry) names(namespace string) []string {
	inNamespace := e.name + "." + e.namespace
	names := []string{inNamespace, inNamespace + ".svc", inNamespace + "." + clusterDomain}
	if e.namespace == namespace {
		names = append([]string{e.name}, names...)
	}
	return names
}

// in returns the lines for pods of a namespace.
func (n *names) in(namespace string) string {
	var lines strings.Builder
	for _, entry := range n.entries {
		fmt.Fprintf(&lines, "%s %s\n", entry.address, strings.Join(entry.names(namespace), " "))
	}
	return lines.String()
}

const localhost = "127.0.0.1 localhost\n::1 localhost\n"

// podHosts is the file of a pod.
func podHosts(object *corev1.Pod, address string, n *names) string {
	var text strings.Builder
	text.WriteString(localhost)
	for _, alias := range object.Spec.HostAliases { // the first line with a name counts
		fmt.Fprintf(&text, "%s %s\n", alias.IP, strings.Join(alias.Hostnames, " "))
	}
	fmt.Fprintf(&text, "%s %s\n", address, object.Name)
	text.WriteString(n.in(object.Namespace))
	return text.String()
}

// writeHosts updates /etc/hosts of the containers.
func (p *pod) writeHosts() error {
	p.node.services.lock.Lock()
	n := p.node.services.names
	p.node.services.lock.Unlock()
	if n == p.names {
		return nil
	}
	content := podHosts(p.object, p.address.String(), n)
	for _, c := range p.all() {
		path := filepath.Join(c.root, "etc/hosts")
		if err := os.WriteFile(path+".new", []byte(content), 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	p.names = n
	return nil
}

// marker begins the part of Config.Hosts that is written here. What others have written before it stays.
const marker = "# Services, kept up to date:\n"

// readHosts returns what is in Config.Hosts, and the part of it that others have written.
func (s *services) readHosts() (all, others string, err error) {
	content, err := os.ReadFile(s.node.Hosts)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = []byte(localhost), nil
	}
	if err != nil {
		return "", "", fmt.Errorf("reading the file of names: %w", err)
	}
	others, _, _ = strings.Cut(string(content), marker)
	return string(content), others, nil
}

// writeHosts updates Config.Hosts in place, since it may be mounted. Text is never removed before other text is there.
func (s *services) writeHosts(text string) error {
	before, others, err := s.readHosts()
	after := others + marker + text
	if err != nil || after == before {
		return err
	}
	file, err := os.OpenFile(s.node.Hosts, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the file of names: %w", err)
	}
	_, err = file.WriteString(after)
	if err := errors.Join(err, file.Truncate(int64(len(after))), file.Close()); err != nil {
		return fmt.Errorf("writing names: %w", err)
	}
	return nil
}
