//! How good `graph_query` is on the set in the repository: a floor under the figures, so that nobody lowers them unawares.

use knowledge::GraphRanking;

use super::set::Set;

#[tokio::test(flavor = "multi_thread")]
async fn questions_find_their_facts_and_walking_helps() {
    let set = Set::load().await;
    let walked = set.figures("tune", 2, GraphRanking::default()).await;
    let found = set.figures("tune", 0, GraphRanking::default()).await;
    assert!(walked["all"].recall_at_10 >= 0.79 && walked["all"].ndcg_at_10 >= 0.63, "{walked:?}");
    assert!(walked["direct"].recall_at_5 >= 0.99, "{walked:?}");
    for kind in ["all", "two_hop"] {
        assert!(walked[kind].recall_at_10 > found[kind].recall_at_10, "{kind}: {walked:?} {found:?}");
    }
    let ranking = GraphRanking { learned: 0.0, pagerank: 0.25, ..GraphRanking::default() };
    let ranked = set.figures("tune", 2, ranking).await;
    assert!(ranked["all"].ndcg_at_10 < walked["all"].ndcg_at_10, "PageRank helps now: choose its weight anew");
}
