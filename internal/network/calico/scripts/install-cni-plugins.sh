# Copies the plugins of this image to the node, but for those that Calico installs in the version that it works with.
# A program that runs cannot be written to, but its file can be replaced.
set -eu
from=/usr/src/cni/bin to=/host/opt/cni/bin
for plugin in "$from"/*; do
  name=${plugin##*/}
  case $name in
  bandwidth | calico | calico-ipam | flannel | host-local | loopback | portmap | tuning) continue ;;
  esac
  cp "$plugin" "$to/.$name.new"
  mv -f "$to/.$name.new" "$to/$name"
done
