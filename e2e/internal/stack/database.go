package stack

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// databases are the names of all databases.
func databases() []string {
	return []string{"keystone", "placement", "glance", "nova_api", "nova_cell0", "nova_cell1", "neutron", "cinder", "octavia"}
}

const (
	schemaDone    = "schema"
	mariadbDone   = "mariadb"
	schemaVersion = 1 // to be raised when fillDatabases makes something else than before
)

// initialise creates MariaDB's own files.
func (l layout) initialise(ctx context.Context) error {
	if l.isDone(mariadbDone) {
		return nil
	}
	dir := filepath.Join(l.data(), "mariadb")
	if err := os.RemoveAll(dir); err != nil { // a half-made one
		return fmt.Errorf("initialising MariaDB: %w", err)
	}
	err := l.tool(ctx, "mariadb-install", nil, "/usr/bin/mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+dir,
		"--auth-root-authentication-method=socket", "--skip-test-db")
	if err != nil {
		return fmt.Errorf("initialising MariaDB: %w", err)
	}
	return l.recordDone(mariadbDone)
}

// fillDatabases creates all schemas and Keystone's first content, from the cache if possible.
func (l layout) fillDatabases(ctx context.Context, cache string, progress io.Writer) error {
	if l.isDone(schemaDone) {
		return nil
	}
	if err := l.sql(ctx, strings.NewReader(emptyDatabases())); err != nil {
		return fmt.Errorf("creating databases: %w", err)
	}
	dump, err := dumpFile(ctx, cache)
	if err != nil {
		return err
	}
	loaded, err := l.load(ctx, dump)
	if err != nil {
		return err
	}
	if loaded {
		return l.recordDone(schemaDone)
	}
	fmt.Fprintln(progress, "no dump for these package versions yet: running all migrations")
	if err := l.migrate(ctx); err != nil {
		return err
	}
	if err := l.save(ctx, dump); err != nil {
		return err
	}
	return l.recordDone(schemaDone)
}

// emptyDatabases is the script that creates all databases and the services' account. Its password is public, and MariaDB runs as root, so the
// account has rights to these databases only, and none to files or other parts of the server.
func emptyDatabases() string {
	var sql strings.Builder
	fmt.Fprintf(&sql, "CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s';\n", storeUser, storePassword)
	for _, name := range databases() {
		fmt.Fprintf(&sql, "CREATE DATABASE IF NOT EXISTS %s;\n", name)
		pattern := strings.ReplaceAll(name, "_", `\_`) // which alone would stand for any letter
		fmt.Fprintf(&sql, "GRANT ALL ON `%s`.* TO '%s'@'%%';\n", pattern, storeUser)
	}
	return sql.String()
}

// migrate runs the services' own migrations, two at a time.
func (l layout) migrate(ctx context.Context) error {
	lane := func(steps ...func(context.Context) error) func() error {
		return func() error {
			for _, step := range steps {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	step := func(database string, command ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := l.tool(ctx, "schema-"+database, nil, command...); err != nil {
				return fmt.Errorf("migrating the database %s: %w", database, err)
			}
			return nil
		}
	}
	config := func(path string) string { return "--config-file=" + l.config(path) }
	nova := append([]string{"/usr/bin/nova-manage"}, l.novaConfig()...)
	novaManage := func(arguments ...string) []string { return append(slices.Clone(nova), arguments...) }
	var lanes errgroup.Group
	lanes.Go(lane(
		step("nova_api", novaManage("api_db", "sync")...),
		step("nova_cell0", novaManage("cell_v2", "map_cell0", "--database_connection", databaseURL("nova_cell0", "pymysql"))...),
		l.createCell,
		step("nova_cell1", novaManage("db", "sync")...),
		step("placement", "/usr/bin/placement-manage", config("placement/placement.conf"), "db", "sync"),
	))
	lanes.Go(lane(
		step("keystone", "/usr/bin/keystone-manage", config("keystone/keystone.conf"), "db_sync"),
		step("keystone", "/usr/bin/keystone-manage", config("keystone/keystone.conf"), "bootstrap",
			"--bootstrap-username", fake.AdminUser, "--bootstrap-project-name", fake.AdminProject,
			"--bootstrap-password", fake.AdminPassword, "--bootstrap-region-id", fake.DefaultRegion,
			"--bootstrap-public-url", urlOf("keystone"), "--bootstrap-internal-url", urlOf("keystone"),
			"--bootstrap-admin-url", urlOf("keystone")),
		step("neutron", "/usr/bin/neutron-db-manage", config("neutron/neutron.conf"), "upgrade", "heads"),
		step("glance", "/usr/bin/glance-manage", config("glance/glance-api.conf"), "db_sync"),
		step("cinder", "/usr/bin/cinder-manage", config("cinder/cinder.conf"), "db", "sync"),
		step("octavia", "/usr/bin/octavia-db-manage", config("octavia/octavia.conf"), "upgrade", "head"),
	))
	return lanes.Wait()
}

// createCell registers Nova's only cell.
func (l layout) createCell(ctx context.Context) error {
	const isThere = 2
	command := append(append([]string{"/usr/bin/nova-manage"}, l.novaConfig()...), "cell_v2", "create_cell", "--name", "cell1")
	err := l.tool(ctx, "schema-nova_cell1", nil, command...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == isThere {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating Nova's cell: %w", err)
	}
	return nil
}

// dumpFile is the path of the dump of the filled databases, or "" without a cache. Its name contains a hash of all that its content depends on.
func dumpFile(ctx context.Context, cache string) (string, error) {
	if cache == "" {
		return "", nil
	}
	versions, err := installedPackages(ctx, []string{
		"python3-keystone", "python3-placement", "python3-glance", "python3-nova", "python3-neutron", "python3-cinder", "python3-octavia",
		"mariadb-server-core",
	})
	if err != nil {
		return "", err
	}
	key := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintln(key, name, versions[name])
	}
	fmt.Fprintln(key, schemaVersion, databases(), databaseURL("", ""), brokerURL(), urlOf("keystone"), fake.AdminPassword)
	return filepath.Join(cache, fmt.Sprintf("databases-%x.sql.gz", key.Sum(nil)[:8])), nil
}

// load fills the databases from a dump, if it exists.
func (l layout) load(ctx context.Context, dump string) (bool, error) {
	file, err := os.Open(dump)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening a dump: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := gzip.NewReader(file)
	if err != nil {
		return false, fmt.Errorf("reading %s (remove it if it is broken): %w", dump, err)
	}
	if err := l.sql(ctx, text); err != nil {
		return false, fmt.Errorf("loading %s (remove it if it is broken): %w", dump, err)
	}
	return true, nil
}

// save writes a dump if there is a cache.
func (l layout) save(ctx context.Context, dump string) (err error) {
	if dump == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dump), 0o755); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(dump), "new-")
	if err != nil {
		return fmt.Errorf("writing a dump: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	packed := gzip.NewWriter(file)
	command := exec.CommandContext(ctx, "/usr/bin/mariadb-dump", append([]string{
		"--no-defaults", "--socket=" + l.socket(), "--user=root", "--single-transaction", "--databases",
	}, databases()...)...)
	var complaint strings.Builder
	command.Stdout, command.Stderr = packed, &complaint
	if err := errors.Join(command.Run(), packed.Close(), file.Close()); err != nil {
		return fmt.Errorf("dumping the databases: %w: %s", err, complaint.String())
	}
	if err := os.Rename(file.Name(), dump); err != nil {
		return fmt.Errorf("writing a dump: %w", err)
	}
	return nil
}

// sql runs a script in MariaDB.
func (l layout) sql(ctx context.Context, script io.Reader) error {
	command := exec.CommandContext(ctx, "/usr/bin/mariadb", "--no-defaults", "--socket="+l.socket(), "--user=root")
	command.Stdin = script
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}
