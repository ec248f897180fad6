// kafkajs as a program under test: AssignerProtocol and PartitionAssigners.roundRobin, which is all
// it exports. Its messages are of version 0, so what later versions carry behind it (owned
// partitions, generation, rack) is not read. The one argument is the folder with its node_modules.
const path = require('path')
const readline = require('readline')
const { AssignerProtocol, PartitionAssigners } = require(
  path.join(process.argv[2], 'node_modules', 'kafkajs')
)
const { MemberMetadata, MemberAssignment } = AssignerProtocol

const VERSION = 0
const hex = bytes => (bytes === null || bytes === undefined ? null : bytes.toString('hex'))
const blob = digits => (digits === null || digits === undefined ? null : Buffer.from(digits, 'hex'))
const pairsOf = assignment =>
  Object.entries(assignment).flatMap(([topic, numbers]) => numbers.map(number => [topic, number]))

function byTopic(pairs) {
  const grouped = Object.create(null)
  for (const [topic, number] of pairs) (grouped[topic] = grouped[topic] || []).push(number)
  return grouped
}

function received({ id, subscription, topics }) {
  const memberMetadata = subscription
    ? blob(subscription)
    : MemberMetadata.encode({ version: VERSION, topics })
  return { memberId: id, memberMetadata }
}

// A leader hands over the topics that it subscribes to itself: here the first member leads.
async function assign({ topics, members }) {
  const cluster = {
    findTopicPartitionMetadata: topic =>
      (topics[topic] || []).map((_, partitionId) => ({ partitionId })),
  }
  const group = members.map(received)
  const own = group.length ? MemberMetadata.decode(group[0].memberMetadata).topics : []
  const assigner = PartitionAssigners.roundRobin({ cluster })
  const given = await assigner.assign({ members: group, topics: own })
  const assignment = Object.fromEntries(members.map(({ id }) => [id, []]))
  for (const { memberId, memberAssignment } of given) {
    assignment[memberId] = pairsOf(MemberAssignment.decode(memberAssignment).assignment)
  }
  return { assignment }
}

function readSubscription({ hex: digits }) {
  const { topics, userData } = MemberMetadata.decode(blob(digits))
  return { topics, ud: hex(userData), unseen: ['owned', 'gen', 'rack'] }
}

function readAssignment({ hex: digits }) {
  const read = MemberAssignment.decode(blob(digits))
  if (read === null) throw new Error('decoded as null')
  return { owned: pairsOf(read.assignment), ud: hex(read.userData) }
}

const WORKS = {
  roundrobin: assign,
  'codec-sub': readSubscription,
  'codec-asg': readAssignment,
  'codec-mksub': ({ topics, ud }) => ({
    v0: hex(MemberMetadata.encode({ version: VERSION, topics, userData: blob(ud) })),
  }),
  'codec-mkasg': ({ owned, ud }) => ({
    v0: hex(
      MemberAssignment.encode({ version: VERSION, assignment: byTopic(owned), userData: blob(ud) })
    ),
  }),
}

async function answered(asked) {
  const work = WORKS[asked.algo]
  if (!work) return { skip: `kafkajs has no ${asked.algo}` }
  try {
    return { out: await work(asked) }
  } catch (error) {
    return { error: { exception: error.name, text: String(error) } }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    process.stdout.write(JSON.stringify({ id: asked.id, ...(await answered(asked)) }) + '\n')
  }
}

main()
