# Removes the routes to pods that BIRD has made on this node. BIRD does not run any more, and routes that nobody keeps lead astray.
for family in -4 -6; do
  ip "$family" route flush proto bird || echo "could not remove routes: ip $family"
done
