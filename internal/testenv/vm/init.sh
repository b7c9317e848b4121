#!/bin/busybox sh
# First process of the guest: brings up rxe0, runs the job, hands out its exit
# status and switches off. Console is ttyS0, the job's output ttyS1, its exit
# status ttyS2. Programs that busybox has too are called by their path, since its
# shell prefers its own.
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
busybox --install -s
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /tmp

# give_up ends the guest without an exit status.
give_up() {
	echo "guest: $1"
	poweroff -f
}

for module in /modules/*; do
	insmod "$module" || give_up "cannot load $module"
done

# Addresses of the range for documentation: nobody else has them. Libraries look
# up the name of the host.
hostname guest
printf '%s\n' '127.0.0.1 localhost' '192.0.2.1 guest' >/etc/hosts
/bin/ip link set lo up
/bin/ip link add net0 type veth peer name net1 || give_up "cannot make net0"
/bin/ip address add 192.0.2.1/24 dev net0
/bin/ip link set net0 up
/bin/ip link set net1 up
/bin/rdma link add rxe0 type rxe netdev net0 || give_up "cannot make rxe0"
tries=0
until grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state; do
	tries=$((tries + 1))
	[ $tries -le 100 ] || give_up "rxe0 does not become active"
	usleep 100000
done
echo "guest: rxe0 is active $(cut -d' ' -f1 /proc/uptime) s after the start"

for port in /dev/ttyS1 /dev/ttyS2; do
	stty -F $port raw -echo 115200
done
ulimit -l unlimited
cd /job
HOME=/tmp TMPDIR=/tmp PATH=/job:/usr/bin:/usr/sbin sh ./job.sh </dev/null >/dev/ttyS1 2>&1
echo $? >/dev/ttyS2
echo "guest: the job has ended $(cut -d' ' -f1 /proc/uptime) s after the start"
poweroff -f
