# Says once more that the network of this node is available, as soon as Felix is ready. The pod that was here before says the opposite
# when it ends, and may come too late with that.
#
# DELAY (seconds) comes from the environment.
trap 'exit 0' TERM INT
sleep "${DELAY:-30}" &
wait $!
# Some versions end when they have said it, others stay.
calico-node -complete-startup &
wait $! || exit 1
while true; do
  sleep 86400 &
  wait $!
done
