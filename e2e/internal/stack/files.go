package stack

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

//go:embed config
var configFiles embed.FS

//go:embed python
var pythonFiles embed.FS

// shared is the file with the common parts of templates.
const shared = "shared.tmpl"

// Accounts for connections between the services. Their passwords are public, as are all of the cloud, so none may permit more than the cloud
// itself: all services listen on loopback only, and the database account has rights to the cloud's databases only, since MariaDB runs as root.
const (
	serviceUser     = "service"
	servicePassword = "service-secret"
	serviceProject  = "service"
	storeUser       = "openstack"
	storePassword   = "store-secret"
)

// values are the variables of templates.
type values struct {
	IP, Region, Domain, Hosts                    string
	Data, Locks, Socket, Files                   string
	ServiceUser, ServicePassword, ServiceProject string
	StoreUser, StorePassword                     string
}

// render returns all configuration files by their path below etc.
func (l layout) render() (map[string][]byte, error) {
	root, err := fs.Sub(configFiles, "config")
	if err != nil {
		return nil, err
	}
	common, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"port": func(name string) (string, error) {
			if portOf(name) == 0 {
				return "", fmt.Errorf("no port is known for %q", name)
			}
			return strconv.Itoa(portOf(name)), nil
		},
		"address": addressOf, "url": urlOf, "database": databaseURL, "broker": brokerURL,
	}).ParseFS(root, shared)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", shared, err)
	}
	var hosts []string
	for _, zone := range Zones() {
		hosts = append(hosts, hostOf(zone)+":"+zone)
	}
	data := values{
		IP: IP, Region: fake.DefaultRegion, Domain: fake.DefaultDomain, Hosts: strings.Join(hosts, ","),
		Data: l.data(), Locks: l.locks(), Socket: l.socket(), Files: l.files(),
		ServiceUser: serviceUser, ServicePassword: servicePassword, ServiceProject: serviceProject,
		StoreUser: storeUser, StorePassword: storePassword,
	}
	files := map[string][]byte{}
	return files, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == shared {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		page, err := common.Clone()
		if err != nil {
			return err
		}
		if page, err = page.New(path).Parse(string(text)); err != nil {
			return fmt.Errorf("parsing a template: %w", err)
		}
		var out bytes.Buffer
		if err := page.Execute(&out, data); err != nil {
			return fmt.Errorf("rendering a template: %w", err)
		}
		files[path] = out.Bytes()
		return nil
	})
}

// writeFiles writes configuration, Python code and keys.
func (l layout) writeFiles() error {
	files, err := l.render()
	if err != nil {
		return err
	}
	for path, content := range files {
		if err := write(l.config(path), content); err != nil {
			return err
		}
	}
	root, err := fs.Sub(pythonFiles, "python")
	if err != nil {
		return err
	}
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		return write(filepath.Join(l.python(), path), content)
	})
	if err != nil {
		return err
	}
	for _, keys := range []string{"fernet", "receipts", "credential"} {
		if err := writeKeys(filepath.Join(l.data(), "keystone", keys)); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}

// writeKeys creates one of Keystone's key repositories, unless it exists: files named by number, 0 the next key and the highest number the
// present one, each 32 random bytes in base64 (Keystone Administration Guide, "Fernet tokens").
func writeKeys(dir string) error {
	for _, number := range []string{"0", "1"} {
		path := filepath.Join(dir, number)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return fmt.Errorf("making a key: %w", err)
		}
		if err := write(path, []byte(base64.URLEncoding.EncodeToString(key))); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o700) // Keystone complains otherwise
}

// databaseURL is the URL of a service's database. The driver is a Python module: the faster mysqldb, or pymysql for processes with green
// threads, which mysqldb would block.
func databaseURL(database, driver string) string {
	u := url.URL{
		Scheme: "mysql+" + driver, User: url.UserPassword(storeUser, storePassword), Host: addressOf("mariadb"),
		Path: "/" + database, RawQuery: "charset=utf8",
	}
	return u.String()
}

func brokerURL() string {
	u := url.URL{Scheme: "rabbit", User: url.UserPassword(storeUser, storePassword), Host: addressOf("rabbitmq"), Path: "/"}
	return u.String()
}
